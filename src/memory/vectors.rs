//! Vectors and how alike two are (spec 10 §22, §29): unit vectors in f32, or a byte a number with a scale.
//!
//! The order of sums is fixed, so that every platform gives the same bits, with SIMD or without: 16 lanes in four accumulators,
//! `(a+b)+(c+e)`, lanes left to right, then the tail; no fused multiply-add.

/// Lanes that are summed side by side.
const LANES: usize = 16;

/// The vector at length 1; zero stays zero, and so does what is no number.
pub fn unit(vector: &[f32]) -> Vec<f32> {
    let squares: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let length = squares.sqrt();
    if !length.is_finite() || length == 0.0 {
        return vec![0.0; vector.len()];
    }
    #[expect(clippy::cast_possible_truncation, reason = "back to the precision that is stored")]
    vector.iter().map(|x| (f64::from(*x) / length) as f32).collect()
}

/// Dot product in the fixed order.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (x, x_rest) = a.as_chunks::<LANES>();
    let (y, y_rest) = b.as_chunks::<LANES>();
    let mut lanes = [0.0_f32; LANES];
    for (x, y) in x.iter().zip(y) {
        for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
            *lane += x * y;
        }
    }
    let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, e0, e1, e2, e3] = lanes;
    let column = |a: f32, b: f32, c: f32, e: f32| (a + b) + (c + e);
    let mut sum = column(a0, b0, c0, e0) + column(a1, b1, c1, e1);
    sum += column(a2, b2, c2, e2);
    sum += column(a3, b3, c3, e3);
    for (x, y) in x_rest.iter().zip(y_rest) {
        sum += x * y;
    }
    sum
}

/// Dot product of bytes; exact.
pub fn dot_bytes(a: &[i8], b: &[i8]) -> i32 {
    // Blocks, so that sixteen numbers are multiplied at a time.
    let (x, x_rest) = a.as_chunks::<LANES>();
    let (y, y_rest) = b.as_chunks::<LANES>();
    let product = |(x, y): (&i8, &i8)| i32::from(i16::from(*x) * i16::from(*y));
    let blocks: i32 = x.iter().zip(y).map(|(x, y)| x.iter().zip(y).map(product).sum::<i32>()).sum();
    blocks + x_rest.iter().zip(y_rest).map(product).sum::<i32>()
}

/// A vector as bytes: `x ≈ scale · q`, scale = max|x| / 127, rounded half away from zero. All zero: scale 0.
pub fn quantise(vector: impl Iterator<Item = f64> + Clone) -> (f64, Vec<i8>) {
    let largest = vector.clone().filter(|x| x.is_finite()).fold(0.0_f64, |m, x| m.max(x.abs()));
    let scale = largest / 127.0;
    if scale == 0.0 {
        return (0.0, vector.map(|_| 0).collect());
    }
    (scale, vector.map(|x| rounded(x / scale)).collect())
}

/// Half away from zero.
fn rounded(x: f64) -> i8 {
    let away = if x < 0.0 { x - 0.5 } else { x + 0.5 };
    #[expect(clippy::cast_possible_truncation, reason = "clamped; what is no number becomes 0")]
    let whole = away.trunc().clamp(-127.0, 127.0) as i8;
    whole
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_stand_for_numbers() {
        let (a, p) = quantise([1.0, 0.0, -0.5, 0.25].into_iter());
        let (b, q) = quantise([0.3, -0.3, 0.1, 0.05].into_iter());
        assert_eq!(
            (p.as_slice(), q.as_slice()),
            ([127, 0, -64, 32].as_slice(), [127, -127, 42, 21].as_slice())
        );
        assert_eq!(dot_bytes(&p, &q), 14113);
        assert!((f64::from(dot_bytes(&p, &q)) * a * b - 0.262_502).abs() < 1e-6);
        assert_eq!(quantise([1e-9, -2e-9, 0.0, 0.0].into_iter()).1, [64, -127, 0, 0]);
        assert_eq!(quantise([0.0, f64::NAN].into_iter()), (0.0, vec![0, 0]));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn sums_are_near_the_truth(pairs in proptest::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 0..100)) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let truth: f64 = pairs.iter().map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
            prop_assert!((f64::from(dot(&a, &b)) - truth).abs() < 1e-4);
            let u = unit(&a);
            prop_assert!(a.iter().all(|x| *x == 0.0) || (dot(&u, &u) - 1.0).abs() < 1e-5);
        }
    }
}
