// Judges variants by verified leads, with a test that stays valid however often its result is checked. Variants are chosen with
// equal probability, so if two do equally well, each new lead is the toss of a fair coin. The alternative is a coin with a bias
// distributed as Beta(10, 10). Their likelihood ratio is a martingale with mean 1 under the fair coin, so the probability that it
// ever reaches 1/α is at most α (Ville 1939). This is the mixture test of Robbins (Annals of Mathematical Statistics 41, 1970), for
// counts in Lindon and Malek (NeurIPS 2022). Views that a stranger adds have no effect.

/** Probability of a false winner. */
const ALPHA = 0.05;
/** Probability of a false alarm about uneven distribution, tested on first views. */
const ALPHA_OF_ALARM = 0.001;
/** Expects most biases between 0.3 and 0.7. */
const PRIOR = 10;
/** Normal quantile for a 95 % interval. */
const Z_95 = 1.959964;
/** Beyond this multiple of the present views, waiting is pointless. */
const MAX_GROWTH = 100;

export type VariantFigures = { readonly name: string; readonly views: number; readonly leads: number };

/** From 0 to 1, with a 95 % interval; null without views. */
export type Share = { readonly share: number; readonly low: number; readonly high: number };

export type Verdict =
  | { readonly type: 'nothing yet' }
  /** The distribution of visitors is not random, so leads cannot be compared. */
  | { readonly type: 'uneven' }
  | { readonly type: 'differ'; readonly better: string; readonly worse: string }
  /** `moreViews`: estimated number of further views of both variants; null if waiting is pointless. */
  | { readonly type: 'open'; readonly leading: string | null; readonly moreViews: number | null };

/** Returns the Wilson score interval (Journal of the American Statistical Association 22, 1927). */
export function shareOf({ views, leads }: Omit<VariantFigures, 'name'>): Share | null {
  if (views <= 0) return null;
  // Browsers without storage can bring leads without counted views.
  const share = Math.min(1, leads / views);
  const z2 = Z_95 ** 2 / views;
  const middle = (share + z2 / 2) / (1 + z2);
  const half = (Z_95 * Math.sqrt((share * (1 - share)) / views + z2 / (4 * views))) / (1 + z2);
  return { share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** @param comparisons number of pairs; divides α */
export function compareTwo(one: VariantFigures, other: VariantFigures, comparisons = 1): Verdict {
  if (one.leads + other.leads === 0) return { type: 'nothing yet' };
  if (logEvidence(one.views, other.views) >= -Math.log(ALPHA_OF_ALARM)) return { type: 'uneven' };
  const [better, worse] = one.leads >= other.leads ? [one, other] : [other, one];
  const needed = Math.log(comparisons / ALPHA);
  if (logEvidence(better.leads, worse.leads) >= needed)
    return { type: 'differ', better: better.name, worse: worse.name };
  const leading = better.leads === worse.leads ? null : better.name;
  const times = leading === null ? null : growthNeeded(better.leads, worse.leads, needed);
  const views = one.views + other.views;
  return {
    type: 'open',
    leading,
    moreViews: times === null || views === 0 ? null : Math.ceil((times - 1) * views),
  };
}

/** The growth that leads need at these proportions; null if too large. */
function growthNeeded(better: number, worse: number, needed: number): number | null {
  const isEnough = (times: number) => logEvidence(times * better, times * worse) >= needed;
  if (!isEnough(MAX_GROWTH)) return null;
  let [low, high] = [1, MAX_GROWTH];
  while (high / low > 1.001) {
    const middle = Math.sqrt(low * high);
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Returns the log likelihood ratio of a biased coin to a fair one. */
const logEvidence = (one: number, other: number): number =>
  logBeta(PRIOR + one, PRIOR + other) - logBeta(PRIOR, PRIOR) + (one + other) * Math.LN2;

const logBeta = (a: number, b: number): number => logGamma(a) + logGamma(b) - logGamma(a + b);

/**
 * Uses Stirling's series from 8 on, where five terms yield twelve digits.
 * @param x greater than 0
 */
function logGamma(x: number): number {
  if (x < 8) return logGamma(x + 1) - Math.log(x);
  const series = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188];
  const tail = series.reduce((sum, term, at) => sum + term / x ** (2 * at + 1), 0);
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + tail;
}
