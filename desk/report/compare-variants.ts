// Judges variants of the page by their verified leads, in a way that stays right however often one looks.
//
// The server draws variants at random, each as likely as any other. If two of them do equally well, each new lead of the two comes from
// either with probability 1/2, whatever the day, the source or the number of views: their leads are tosses of a fair coin. Against
// it stands a coin whose bias is not known, but spread around 1/2 as a Beta(10, 10) distribution: the ratio of the two likelihoods
// is a martingale with mean 1 while the coin is fair, so the chance that it ever reaches 1/α, at any time one may look, is at most α (Ville
// 1939). This is the mixture test of Robbins ("Statistical methods related to the law of the iterated logarithm", Annals of Mathematical
// Statistics 41, 1970) as Lindon and Malek use it for counts ("Anytime-valid inference for multinomial count data", NeurIPS 2022). No sample
// size is planned, nothing is approximated, and views that a stranger adds change nothing in it.

/** Chance of a winner where there is none, however often one looks. */
const ALPHA = 0.05;
/** The same chance for the alarm that visitors were not shared out evenly: by the same test, of their first views. */
const ALPHA_OF_ALARM = 0.001;
/** Spread of the biases that are looked for: most between 0.3 and 0.7, where better pages are. */
const PRIOR = 10;
/** The normal deviate of a 95 % interval. */
const Z_95 = 1.959964;
/** A difference that takes more than so many times the views so far is not worth waiting for. */
const WORTH_WAITING_TIMES = 100;

/** First views of a variant, and the verified leads it brought. */
export type VariantFigures = { readonly name: string; readonly views: number; readonly leads: number };

/** The share of leads with its 95 % interval, from 0 to 1; null without views. */
export type Share = { readonly share: number; readonly low: number; readonly high: number };

export type Verdict =
  /** There is nothing to judge yet. */
  | { readonly type: 'nothing yet' }
  /** Something else than chance shares out the visitors, so their leads say nothing. */
  | { readonly type: 'uneven' }
  /** The difference can be believed. */
  | { readonly type: 'differ'; readonly better: string; readonly worse: string }
  /** Not yet: if the shares stay as they are, with this many more views of the two together; null where it is not worth waiting. */
  | { readonly type: 'open'; readonly leading: string | null; readonly moreViews: number | null };

/**
 * The interval of Wilson ("Probable inference, the law of succession, and statistical inference", Journal of the American Statistical
 * Association 22, 1927).
 */
export function shareOf({ views, leads }: Omit<VariantFigures, 'name'>): Share | null {
  if (views <= 0) return null;
  // A browser that keeps nothing, or a visitor who is not counted, may bring a lead without a view.
  const share = Math.min(1, leads / views);
  const z2 = Z_95 ** 2 / views;
  const middle = (share + z2 / 2) / (1 + z2);
  const half = (Z_95 * Math.sqrt((share * (1 - share)) / views + z2 / (4 * views))) / (1 + z2);
  return { share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/**
 * Judges whether two variants differ.
 * @param comparisons how many such pairs the report compares; each gets its part of the chance of a false winner
 */
export function compareTwo(one: VariantFigures, other: VariantFigures, comparisons = 1): Verdict {
  if (one.leads + other.leads === 0) return { type: 'nothing yet' };
  if (logEvidence(one.views, other.views) >= -Math.log(ALPHA_OF_ALARM)) return { type: 'uneven' };
  const [better, worse] = one.leads >= other.leads ? [one, other] : [other, one];
  const needed = Math.log(comparisons / ALPHA);
  if (logEvidence(better.leads, worse.leads) >= needed)
    return { type: 'differ', better: better.name, worse: worse.name };
  const leading = better.leads === worse.leads ? null : better.name;
  const times = leading === null ? null : timesNeeded(better.leads, worse.leads, needed);
  const views = one.views + other.views;
  return {
    type: 'open',
    leading,
    moreViews: times === null || views === 0 ? null : Math.ceil((times - 1) * views),
  };
}

/** How many times as many leads of both would be enough, in the same proportion; null where it is too many to wait for. */
function timesNeeded(better: number, worse: number, needed: number): number | null {
  const isEnough = (times: number) => logEvidence(times * better, times * worse) >= needed;
  if (!isEnough(WORTH_WAITING_TIMES)) return null;
  let [low, high] = [1, WORTH_WAITING_TIMES];
  while (high / low > 1.001) {
    const middle = Math.sqrt(low * high);
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Logarithm of how much likelier the leads are with a biased coin than with a fair one. */
const logEvidence = (one: number, other: number): number =>
  logBeta(PRIOR + one, PRIOR + other) - logBeta(PRIOR, PRIOR) + (one + other) * Math.LN2;

const logBeta = (a: number, b: number): number => logGamma(a) + logGamma(b) - logGamma(a + b);

/** Stirling's series, from 8 on, where five terms are exact to twelve digits. @param x greater than 0 */
function logGamma(x: number): number {
  if (x < 8) return logGamma(x + 1) - Math.log(x);
  const series = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188];
  const tail = series.reduce((sum, term, at) => sum + term / x ** (2 * at + 1), 0);
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + tail;
}
