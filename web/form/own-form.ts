// The campaign's own questions as the page asks them. Only what stands behind `asksMore` may import this: a page without such questions
// has nothing of it.
import * as z from 'zod/mini';

import { fields, messages } from '#campaign/form.yaml';
import type { OwnField } from '#shared/campaign-schema.ts';
import type { TypedAnswers } from '#shared/lead.ts';
import { leadSchema } from '#shared/own-fields.ts';
import { KeptText } from '#web/form/kept-draft.ts';
import type { LeadDraft } from '#web/form/lead-draft.ts';

/** The schema of the whole form. The mark lets the bundler leave it out. */
export const ownLead = /* @__PURE__ */ leadSchema({ fields, messages });

const fits = ({ kind, options = [] }: OwnField, answer: unknown): answer is TypedAnswers[string] =>
  kind === 'choices'
    ? Array.isArray(answer) && answer.every((one: string) => options.includes(one))
    : typeof answer === 'string' && (kind !== 'choice' || options.includes(answer));

const keptText = () =>
  z.extend(KeptText, {
    answers: z.prefault(
      z.pipe(
        z.record(z.string(), z.unknown()),
        z.transform((kept) =>
          Object.fromEntries(
            fields.flatMap((field): (readonly [string, TypedAnswers[string]])[] => {
              const answer = kept[field.id];
              return fits(field, answer) ? [[field.id, answer]] : [];
            }),
          ),
        ),
      ),
      {},
    ),
  });

/** What is kept of the form: with the answers to questions that are still asked. */
export const KeptOwnText = /* @__PURE__ */ keptText();

/** The draft as it is kept: without answers where none is given. */
export const keptOwnDraft = ({ answers = {}, ...draft }: LeadDraft): LeadDraft =>
  Object.values(answers).some(({ length }) => length > 0) ? { ...draft, answers } : draft;
