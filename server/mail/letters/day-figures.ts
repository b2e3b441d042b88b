// The figures of a day as the outbox keeps them until the mail about the day is composed.
import * as z from 'zod/mini';

export const DayFigures = z.object({
  /** When the day began; milliseconds since 1970. */
  from: z.number(),
  /** New leads of the day before. */
  before: z.number(),
  steps: z.array(z.object({ step: z.string(), count: z.number() })),
  sources: z.array(z.object({ source: z.string(), leads: z.number() })),
});
/** What is counted of a day: numbers and sources, nothing about anybody. */
export type DayFigures = z.infer<typeof DayFigures>;
