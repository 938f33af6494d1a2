//! Nodes as numbers and edges in two compressed rows: what every walk and closure runs on.
//!
//! An edge `a -> b` says that `a` depends on `b`, so `b` comes first. Nodes are dense numbers whose
//! meaning the owner keeps beside the graph; smaller numbers come first wherever the graph leaves a
//! choice, which is what makes every order here the same on each run. Edges are stored once per
//! direction as offsets and targets (compressed sparse rows): two allocations for any number of
//! nodes, and no edge is stored twice.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A node's number.
pub type Node = u32;

/// Which way to go from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To what it needs.
    Dependencies,
    /// To what needs it.
    Dependents,
}

#[derive(Clone, Debug, Default)]
struct Rows {
    offsets: Vec<u32>,
    targets: Vec<Node>,
}

impl Rows {
    /// `edges` sorted by their first part.
    fn new(nodes: usize, edges: &[(Node, Node)]) -> Self {
        let mut offsets = vec![0u32; nodes + 1];
        for (from, _) in edges {
            if let Some(o) = offsets.get_mut(*from as usize + 1) {
                *o += 1;
            }
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        Self {
            offsets,
            targets: edges.iter().map(|(_, to)| *to).collect(),
        }
    }

    fn of(&self, node: Node) -> &[Node] {
        let at = |i: usize| self.offsets.get(i).map_or(0, |o| *o as usize);
        let (start, end) = (at(node as usize), at(node as usize + 1));
        self.targets.get(start..end).unwrap_or(&[])
    }
}

/// A directed graph of `0..len` nodes; acyclic if [`Dag::topological_order`] says so.
#[derive(Clone, Debug, Default)]
pub struct Dag {
    len: usize,
    dependencies: Rows,
    dependents: Rows,
}

impl Dag {
    /// A graph of `len` nodes with edges `(dependent, dependency)`. Edges that repeat or name a node
    /// outside `0..len` are dropped; an edge from a node to itself is kept, as a cycle.
    pub fn new(len: usize, edges: impl IntoIterator<Item = (Node, Node)>) -> Self {
        let mut forward: Vec<_> = edges
            .into_iter()
            .filter(|(a, b)| (*a as usize) < len && (*b as usize) < len)
            .collect();
        forward.sort_unstable();
        forward.dedup();
        let mut backward: Vec<_> = forward.iter().map(|(a, b)| (*b, *a)).collect();
        backward.sort_unstable();
        Self {
            len,
            dependencies: Rows::new(len, &forward),
            dependents: Rows::new(len, &backward),
        }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All nodes, ascending.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + use<> {
        0..u32::try_from(self.len).unwrap_or(u32::MAX)
    }

    /// All edges `(dependent, dependency)`, ascending.
    pub fn edges(&self) -> impl Iterator<Item = (Node, Node)> + '_ {
        self.nodes()
            .flat_map(|n| self.dependencies(n).iter().map(move |d| (n, *d)))
    }

    /// What a node needs, ascending.
    pub fn dependencies(&self, node: Node) -> &[Node] {
        self.dependencies.of(node)
    }

    /// What needs a node, ascending.
    pub fn dependents(&self, node: Node) -> &[Node] {
        self.dependents.of(node)
    }

    /// Its neighbours in a direction, ascending.
    pub fn neighbours(&self, node: Node, direction: Direction) -> &[Node] {
        match direction {
            Direction::Dependencies => self.dependencies(node),
            Direction::Dependents => self.dependents(node),
        }
    }

    /// The same nodes with every edge turned round, as destroying needs them.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            len: self.len,
            dependencies: self.dependents.clone(),
            dependents: self.dependencies.clone(),
        }
    }

    /// For each node, whether it can be reached from one of `seeds` in `direction`; seeds count.
    pub fn closure(
        &self,
        seeds: impl IntoIterator<Item = Node>,
        direction: Direction,
    ) -> Vec<bool> {
        let mut reached = vec![false; self.len];
        let mut stack: Vec<Node> = seeds.into_iter().collect();
        while let Some(node) = stack.pop() {
            match reached.get_mut(node as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            stack.extend_from_slice(self.neighbours(node, direction));
        }
        reached
    }

    /// Every node after what it needs, the smallest number first where there is a choice.
    ///
    /// # Errors
    /// The cycles, as [`Dag::cycles`] gives them, if there are any.
    pub fn topological_order(&self) -> Result<Vec<Node>, Vec<Vec<Node>>> {
        let mut waiting: Vec<usize> = self.nodes().map(|n| self.dependencies(n).len()).collect();
        let mut ready: BinaryHeap<Reverse<Node>> = self
            .nodes()
            .filter(|n| waiting[*n as usize] == 0)
            .map(Reverse)
            .collect();
        let mut order = Vec::with_capacity(self.len);
        while let Some(Reverse(node)) = ready.pop() {
            order.push(node);
            for dependent in self.dependents(node) {
                let left = &mut waiting[*dependent as usize];
                *left -= 1;
                if *left == 0 {
                    ready.push(Reverse(*dependent));
                }
            }
        }
        if order.len() == self.len {
            Ok(order)
        } else {
            Err(self.cycles())
        }
    }

    /// The same without the edges that others already imply: of `a -> b`, `b -> c` and `a -> c` the last
    /// goes. Who can be reached from whom stays as it is. A graph with cycles is given back whole.
    pub fn reduced(&self) -> Self {
        let Ok(order) = self.topological_order() else {
            return self.clone();
        };
        let mut rank = vec![0usize; self.len];
        for (i, node) in order.iter().enumerate() {
            rank[*node as usize] = i;
        }
        let mut kept = Vec::new();
        // by whom a node was reached last; nobody has the number of all nodes
        let mut reached = vec![self.len; self.len];
        let mut stack = Vec::new();
        for node in self.nodes() {
            let mut direct = self.dependencies(node).to_vec();
            direct.sort_by_key(|d| Reverse(rank[*d as usize]));
            let Some(last) = direct.last().map(|d| rank[*d as usize]) else {
                continue;
            };
            for d in direct {
                if reached[d as usize] == node as usize {
                    continue;
                }
                kept.push((node, d));
                stack.push(d);
                while let Some(n) = stack.pop() {
                    for below in self.dependencies(n) {
                        let at = *below as usize;
                        // nothing that comes before all direct ones leads to any of them
                        if rank[at] >= last && reached[at] != node as usize {
                            reached[at] = node as usize;
                            stack.push(*below);
                        }
                    }
                }
            }
        }
        Self::new(self.len, kept)
    }

    /// The cycles: for each strongly connected group a shortest way round from its smallest node,
    /// along dependencies. Groups ascend by that node.
    pub fn cycles(&self) -> Vec<Vec<Node>> {
        let circles = self.circles();
        let ways = circles.iter().filter_map(|group| {
            let start = *group.first()?;
            Some(self.way_round(start, group))
        });
        ways.collect()
    }

    /// The groups of nodes that lead to each other, or one to itself; each ascends, and so do they by
    /// their smallest nodes.
    pub fn circles(&self) -> Vec<Vec<Node>> {
        let mut graph = petgraph::graph::DiGraph::<(), (), Node>::with_capacity(self.len, self.len);
        for _ in self.nodes() {
            graph.add_node(());
        }
        for (a, b) in self.edges() {
            graph.add_edge(a.into(), b.into(), ());
        }
        // Kosaraju's algorithm and not Tarjan's: petgraph's Tarjan recurses once per node, and a
        // chain of a hundred thousand would end the process.
        let mut circles: Vec<Vec<Node>> = petgraph::algo::kosaraju_scc(&graph)
            .into_iter()
            .filter_map(|group| {
                let mut group: Vec<Node> = group
                    .into_iter()
                    .map(|n| u32::try_from(n.index()).unwrap_or(u32::MAX))
                    .collect();
                group.sort_unstable();
                let start = *group.first()?;
                (group.len() > 1 || self.dependencies(start).contains(&start)).then_some(group)
            })
            .collect();
        circles.sort();
        circles
    }

    /// A shortest cycle through `start` within a sorted strongly connected group.
    fn way_round(&self, start: Node, group: &[Node]) -> Vec<Node> {
        let index = |n: Node| group.binary_search(&n).ok();
        let mut came_from: Vec<Option<Node>> = vec![None; group.len()];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for next in self.dependencies(node) {
                if *next == start {
                    let mut way = vec![node];
                    while let Some(before) = way
                        .last()
                        .filter(|n| **n != start)
                        .and_then(|n| index(*n))
                        .and_then(|i| came_from[i])
                    {
                        way.push(before);
                    }
                    way.reverse();
                    return way;
                }
                if let Some(i) = index(*next)
                    && came_from[i].is_none()
                {
                    came_from[i] = Some(node);
                    queue.push_back(*next);
                }
            }
        }
        vec![start]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_by_dependency_then_number() {
        let dag = Dag::new(5, [(0, 3), (3, 4), (1, 4), (0, 3), (9, 1)]);
        assert_eq!(dag.topological_order(), Ok(vec![2, 4, 1, 3, 0]));
        assert_eq!(dag.dependents(4), [1, 3]);
        assert_eq!(dag.reversed().topological_order(), Ok(vec![0, 1, 2, 3, 4]));
    }

    #[test]
    fn closures() {
        let dag = Dag::new(5, [(0, 1), (1, 2), (3, 2)]);
        let names = |v: Vec<bool>| -> Vec<usize> {
            v.iter()
                .enumerate()
                .filter(|(_, b)| **b)
                .map(|(i, _)| i)
                .collect()
        };
        assert_eq!(names(dag.closure([1], Direction::Dependencies)), [1, 2]);
        assert_eq!(names(dag.closure([2], Direction::Dependents)), [0, 1, 2, 3]);
        assert_eq!(names(dag.closure([], Direction::Dependents)), [0usize; 0]);
    }

    #[test]
    fn what_others_imply_goes() {
        let check = |n: usize, edges: &[(Node, Node)], want: &[(Node, Node)]| {
            let dag = Dag::new(n, edges.iter().copied());
            assert_eq!(dag.reduced().edges().collect::<Vec<_>>(), want);
        };
        check(3, &[(0, 1), (1, 2), (0, 2)], &[(0, 1), (1, 2)]);
        check(
            5,
            &[(4, 0), (4, 1), (4, 2), (4, 3), (3, 2), (2, 0), (1, 0)],
            &[(1, 0), (2, 0), (3, 2), (4, 1), (4, 3)],
        );
        check(3, &[(0, 1), (1, 0), (2, 0)], &[(0, 1), (1, 0), (2, 0)]);
    }

    #[test]
    fn cycles_are_shortest_and_sorted() {
        let dag = Dag::new(
            7,
            [
                (5, 6),
                (6, 5),
                (0, 1),
                (1, 2),
                (2, 0),
                (1, 0),
                (3, 3),
                (4, 0),
            ],
        );
        assert_eq!(
            dag.topological_order(),
            Err(vec![vec![0, 1], vec![3], vec![5, 6]])
        );
    }

    #[test]
    fn long_chains_neither_overflow_nor_crawl() {
        let n = 200_000;
        let dag = Dag::new(n, (1..n as u32).map(|i| (i, i - 1)));
        assert_eq!(dag.topological_order().map(|o| o.len()), Ok(n));
        let ring = Dag::new(n, (0..n as u32).map(|i| (i, (i + 1) % n as u32)));
        assert_eq!(ring.cycles().first().map(Vec::len), Some(n));
    }
}
