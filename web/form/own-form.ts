// The campaign's own questions as the page asks them. Only what stands behind `asksMore` may import this: a page without such questions
// has nothing of it.
import { fields, messages } from '#campaign/form.yaml';
import type { OwnField } from '#shared/campaign-schema.ts';
import type { TypedAnswers } from '#shared/lead.ts';
import { leadSchema } from '#shared/own-fields.ts';

/** The schema of the whole form. The mark lets the bundler leave it out. */
export const ownLead = /* @__PURE__ */ leadSchema({ fields, messages });

const KEY = 'own-answers';

/** Every use may throw, as in kept-draft.ts. */
type AnswerStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const fits = ({ kind, options = [] }: OwnField, answer: unknown): answer is TypedAnswers[string] =>
  kind === 'choices'
    ? Array.isArray(answer) && answer.every((one: string) => options.includes(one))
    : typeof answer === 'string' && (kind !== 'choice' || options.includes(answer));

/** What this tab kept of the answers to questions that are still asked; null when that is nothing. */
export function readAnswers(storage: () => AnswerStorage): TypedAnswers | null {
  try {
    const kept = JSON.parse(storage().getItem(KEY) ?? 'null') as TypedAnswers | null;
    return (
      kept &&
      Object.fromEntries(
        fields.flatMap((field) => (fits(field, kept[field.id]) ? [[field.id, kept[field.id]!]] : [])),
      )
    );
  } catch {
    return null;
  }
}

/** Keeps the answers; forgets them where there are none. */
export function keepAnswers(storage: () => AnswerStorage, answers: TypedAnswers = {}): void {
  try {
    if (Object.values(answers).some(({ length }) => length > 0))
      storage().setItem(KEY, JSON.stringify(answers));
    else storage().removeItem(KEY);
  } catch {
    // The form works without storage.
  }
}
