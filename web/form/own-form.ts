// Import this only within `asksMore` or `news`, so pages without custom questions or a box for news do not contain it.
import * as z from 'zod/mini';

import { news } from '#campaign/consent.yaml';
import { fields, messages } from '#campaign/form.yaml';
import type { OwnField } from '#shared/campaign-schema.ts';
import type { TypedAnswers } from '#shared/lead.ts';
import { leadSchema } from '#shared/own-fields.ts';
import { KeptText, type LeadDraft } from '#web/form/lead-draft.ts';

/** A tick is dropped if the sentence has changed since, because the visitor has not seen the new one. */
const newsTick = () =>
  z.pipe(
    z.optional(z.string()),
    z.transform((version) => (version === news?.version ? version : undefined)),
  );

export const ownLead = /* @__PURE__ */ leadSchema({ fields, messages }, /* @__PURE__ */ newsTick());

const fits = ({ kind, options = [] }: OwnField, answer: unknown): answer is TypedAnswers[string] =>
  kind === 'choices'
    ? Array.isArray(answer) && answer.every((one: string) => options.includes(one))
    : typeof answer === 'string' && (kind !== 'choice' || options.includes(answer));

const keptText = () =>
  z.extend(KeptText, {
    newsConsentVersion: newsTick(),
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

export const KeptOwnText = /* @__PURE__ */ keptText();

export const keptOwnDraft = ({ answers = {}, ...draft }: LeadDraft): LeadDraft =>
  Object.values(answers).some(({ length }) => length > 0) ? { ...draft, answers } : draft;
