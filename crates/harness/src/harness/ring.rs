//! A queue with a fixed capacity.

/// A queue of at most `CAPACITY` items, the oldest first. It allocates nothing, so that a golden
/// model can have it.
#[derive(Debug, Clone)]
pub struct Ring<T, const CAPACITY: usize> {
    items: [T; CAPACITY],
    oldest: usize,
    len: usize,
}

impl<T: Copy, const CAPACITY: usize> Ring<T, CAPACITY> {
    /// An empty queue. `any` fills the places that are free.
    pub const fn new(any: T) -> Self {
        Self { items: [any; CAPACITY], oldest: 0, len: 0 }
    }

    /// The number of items.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no item.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether there is no room.
    #[inline]
    pub const fn is_full(&self) -> bool {
        self.len == CAPACITY
    }

    /// The oldest item.
    #[inline]
    pub fn first(&self) -> Option<T> {
        (self.len > 0).then(|| self.items[self.oldest])
    }

    /// Removes the oldest item, if there is one.
    #[inline]
    pub fn pop(&mut self) {
        if self.len > 0 {
            self.oldest = (self.oldest + 1) % CAPACITY;
            self.len -= 1;
        }
    }

    /// Adds an item. Without room it replaces the oldest one.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.is_full() {
            self.pop();
        }
        self.items[(self.oldest + self.len) % CAPACITY] = item;
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_leave_in_order_around_the_end() {
        let mut ring = Ring::<u8, 3>::new(0);
        for item in 1..=4 {
            ring.push(item);
            if item == 2 {
                ring.pop();
            }
        }
        assert!(ring.is_full());
        let mut left = Vec::new();
        while let Some(item) = ring.first() {
            left.push(item);
            ring.pop();
        }
        assert_eq!((left, ring.is_empty(), ring.len()), (vec![2, 3, 4], true, 0));
    }
}
