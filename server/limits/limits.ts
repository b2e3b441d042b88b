// What keeps visitors' requests within bounds: the limits that are counted, and the breaker. The one file through which other rooms
// use them.
import type { Db } from '#server/db/engine/connect.ts';
import { createBreaker, type Breaker, type BreakerReason } from '#server/limits/breaker.ts';
import { createCountedLimits, type CountedLimits } from '#server/limits/counted-limits.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';

export type Limits = CountedLimits & { readonly breaker: Breaker };

export type LimitsParts = {
  readonly db: Db;
  readonly config: Pick<Config, 'limits' | 'breaker' | 'codeTtlSeconds' | 'resendSeconds'>;
  /** What is counted for an e-mail address is counted under its pseudonym: it holds when the address is erased. */
  readonly secrets: Secrets;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Called once each time the breaker opens, in the process that opened it. */
  readonly onBreakerOpened: (reason: BreakerReason) => void;
};

/** Makes the limits of a service. */
export const createLimits = ({ db, config, secrets, clock, onBreakerOpened }: LimitsParts): Limits => ({
  ...createCountedLimits(config, secrets),
  breaker: createBreaker({ db, config, clock, onOpened: onBreakerOpened }),
});
