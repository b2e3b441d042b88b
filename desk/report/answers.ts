// Counts new leads by answer. Answers that are no longer offered are grouped, because they may be free text that names a
// person.
import { leadsBy, type Span } from '#server/db/queries/report-figures.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { isFrom } from '#server/attribution/attribution.ts';
import type { Selection } from '#server/stats/stats.ts';
import type { OwnField } from '#shared/campaign-schema.ts';
import { readAnswers } from '#shared/own-fields.ts';

export type AnswerCounts = {
  readonly id: string;
  readonly label: string;
  /** True if a lead can give several answers, so that the rows can add up to more than all leads. */
  readonly areSeveral: boolean;
  readonly rows: readonly { readonly name: string; readonly leads: number }[];
};

export const OTHER_ANSWERS = 'other answers';
export const NO_ANSWER = 'no answer';

/** @param onCounted receives the number of leads counted since the last call; throws to stop counting */
export async function countAnswers(
  db: Db,
  span: Span,
  {
    fields,
    only,
    onCounted,
  }: {
    readonly fields: readonly OwnField[];
    readonly only?: Selection | undefined;
    readonly onCounted: (people: number) => void;
  },
): Promise<readonly AnswerCounts[]> {
  const asked = fields
    .filter(({ kind }) => kind === 'choice' || kind === 'choices')
    .map(({ id, label, kind, options = [] }) => {
      const leads = new Map([...options, OTHER_ANSWERS, NO_ANSWER].map((name) => [name, 0]));
      return { id, label, areSeveral: kind === 'choices', options, leads };
    });
  if (asked.length === 0) return [];
  const isOriginWanted = only?.source !== undefined || only?.campaign !== undefined;
  // Attributions make many groups.
  const columns = isOriginWanted ? (['answers', 'attribution'] as const) : (['answers'] as const);
  for await (const groups of leadsBy(db, { ...span, variant: only?.variant }, columns))
    for (const { answers, attribution, people } of groups) {
      onCounted(people);
      if (only !== undefined && !isFrom(attribution, only)) continue;
      const given = readAnswers(answers);
      for (const { id, options, leads } of asked) {
        const chosen = [given[id]?.answer ?? []].flat();
        const names = chosen.map((name) => (options.includes(name) ? name : OTHER_ANSWERS));
        for (const name of names.length === 0 ? [NO_ANSWER] : new Set(names))
          leads.set(name, (leads.get(name) ?? 0) + people);
      }
    }
  return asked.map(({ id, label, areSeveral, options, leads }) => ({
    id,
    label,
    areSeveral,
    rows: [...leads]
      .map(([name, count]) => ({ name, leads: count }))
      .filter((row) => options.includes(row.name) || row.leads > 0),
  }));
}
