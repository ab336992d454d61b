//! Binary answers, read as HTTP.md tells.

/// Reads little-endian numbers one after the other.
struct Cursor<'b>(&'b [u8]);

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_first_chunk().unwrap();
        self.0 = rest;
        *head
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn long(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn reals(&mut self, count: u32) -> Vec<f64> {
        (0..count).map(|_| f64::from_le_bytes(self.take())).collect()
    }

    fn words(&mut self, count: u32) -> Vec<u32> {
        (0..count).map(|_| self.word()).collect()
    }
}

/// The columns of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) count: u32,
    pub(crate) start: u64,
    pub(crate) ns: u64,
}

impl Columns {
    /// Begin and end of a column.
    pub(crate) fn of(&self, column: u32) -> (u64, u64) {
        let begin = self.start + u64::from(column) * self.ns;
        (begin, begin + self.ns)
    }
}

fn head(bytes: &mut Cursor<'_>, magic: &[u8; 4]) -> (u32, Columns) {
    assert_eq!(&bytes.take::<4>(), magic);
    let (parts, count) = (bytes.word(), bytes.word());
    assert_eq!(bytes.word(), 0);
    (parts, Columns { count, start: bytes.long(), ns: bytes.long() })
}

/// Column, least, largest and mean value.
pub(crate) type Values = Vec<(u32, f64, f64, f64)>;

pub(crate) fn series(bytes: &[u8]) -> (Columns, Vec<Values>) {
    let mut rest = Cursor(bytes);
    let (parts, columns) = head(&mut rest, b"NVS1");
    let mut out = Vec::new();
    for place in 0..parts {
        assert_eq!(rest.word(), place);
        let count = rest.word();
        let (min, max, mean) = (rest.reals(count), rest.reals(count), rest.reals(count));
        let at = rest.words(count);
        rest.words(count % 2);
        let all = at.into_iter().zip(min).zip(max).zip(mean);
        out.push(all.map(|(((at, min), max), mean)| (at, min, max, mean)).collect());
    }
    assert!(rest.0.is_empty());
    (columns, out)
}

/// Column and matches, by lane.
pub(crate) type Hits = Vec<(u32, Vec<(u32, u32)>)>;

pub(crate) fn matches(bytes: &[u8]) -> (Columns, Hits) {
    let mut rest = Cursor(bytes);
    let (parts, columns) = head(&mut rest, b"NVM1");
    let mut out = Vec::new();
    for _ in 0..parts {
        let (lane, count) = (rest.word(), rest.word());
        let (at, hits) = (rest.words(count), rest.words(count));
        out.push((lane, at.into_iter().zip(hits).collect()));
    }
    assert!(rest.0.is_empty());
    (columns, out)
}

/// Row, start and end.
pub(crate) type Span = (u64, u64, u64);

/// Lane, its events, their kinds.
pub(crate) type Events = Vec<(u32, Vec<Span>, Vec<u32>)>;

pub(crate) fn spans(bytes: &[u8]) -> Events {
    events(Cursor(bytes))
}

/// Lanes with columns, and the events behind them.
pub(crate) fn viewport(bytes: &[u8]) -> (Vec<u32>, Events) {
    let mut rest = Cursor(bytes);
    let (parts, _) = head(&mut rest, b"NVT1");
    let mut lanes = Vec::new();
    for _ in 0..parts {
        let (lane, count) = (rest.word(), rest.word());
        rest.words(7 * count + count % 2);
        if count > 0 {
            lanes.push(lane);
        }
    }
    (lanes, events(rest))
}

fn events(mut rest: Cursor<'_>) -> Events {
    assert_eq!(&rest.take::<4>(), b"NVE1");
    let lanes = rest.word();
    let mut out = Vec::new();
    for _ in 0..lanes {
        let (lane, count) = (rest.word(), rest.word());
        let [rows, starts, ends] =
            [(); 3].map(|()| (0..count).map(|_| rest.long()).collect::<Vec<u64>>());
        let kinds = rest.words(count);
        if count % 2 == 1 {
            rest.word();
        }
        let spans = rows.into_iter().zip(starts).zip(ends).map(|((row, s), e)| (row, s, e));
        out.push((lane, spans.collect(), kinds));
    }
    assert!(rest.0.is_empty());
    out
}
