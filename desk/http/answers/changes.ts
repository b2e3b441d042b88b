// What the operator changes about a person: answers, the list of addresses that get no mail, the guide once more, the erasure.
import type {
  correct as correctCall,
  erase as eraseCall,
  sendGuide as sendGuideCall,
  suppress as suppressCall,
  unsuppress as unsuppressCall,
} from '#desk/calls/people.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Handler } from '#desk/http/handler.ts';
import { correctAnswers } from '#desk/people/correct.ts';
import { ELSEWHERE, eraseAddress, sayCounts } from '#desk/people/erase.ts';
import { sendGuideTo } from '#desk/people/send-guide.ts';
import { findSlips, suppressAddress, undoSlips } from '#desk/people/suppress.ts';
import { addressOfPerson } from '#server/db/people/one-person.ts';
import type { Service } from '#server/run/service.ts';
import { normaliseEmail } from '#shared/lead.ts';

const addressOf = ({ database }: Pick<Service, 'database'>, id: string) => addressOfPerson(database.db, id);

export const correct: Handler<typeof correctCall> = async (
  { service, noteDone },
  { id, name, company, answers = {} },
) => {
  const email = await addressOf(service, id);
  if (email === undefined) return null;
  const ids = Object.keys(answers);
  const changed = [
    ...(name === undefined ? [] : ['name']),
    ...(company === undefined ? [] : ['company']),
    ...ids,
  ];
  if (changed.length === 0) throw new CommandFailure('Say what is to be corrected.', 2);
  await correctAnswers(service, {
    email,
    name,
    company,
    answers: Object.entries(answers).map(([question, text]) => ({ id: question, text })),
  });
  await noteDone('corrected', email, changed.join(', '));
  return {};
};

export const erase: Handler<typeof eraseCall> = async ({ service, note }, { id, email: typed }) => {
  const email = await addressOf(service, id);
  if (email === undefined) return null;
  if (normaliseEmail(typed) !== email)
    throw new CommandFailure(
      'Nothing was erased: this is not the address of this person. Type it as it stands above.',
    );
  const { counts, failures, advice } = await eraseAddress(service, email, (erased) =>
    note('erased', email, sayCounts(erased)),
  );
  return { erased: [`Erased: ${sayCounts(counts)}.`, ELSEWHERE, ...advice, ...failures].join(' ') };
};

export const suppress: Handler<typeof suppressCall> = async (
  { service, noteDone },
  { id, reason, note: words },
) => {
  const email = await addressOf(service, id);
  if (email === undefined) return null;
  const isNew = await suppressAddress(service, { email, reason, note: words?.trim() || null });
  if (!isNew) throw new CommandFailure(`${email} was on the list for that reason already.`);
  await noteDone('suppressed', email, reason);
  return {};
};

export const unsuppress: Handler<typeof unsuppressCall> = async (
  { service, noteDone, signal },
  { id, reason },
) => {
  const email = await addressOf(service, id);
  if (email === undefined) return null;
  const why = reason.trim();
  if (why === '') throw new CommandFailure('Say why mail may go again.', 2);
  const slips = await findSlips(service, email, why);
  const { removed, left } = await undoSlips(service, { email, slips, note: why, signal });
  await noteDone('unsuppressed', email, removed.map((entry) => entry.reason).join(', '));
  return { staysStopped: left.length > 0 };
};

export const sendGuide: Handler<typeof sendGuideCall> = async ({ service, noteDone }, { id }) => {
  const email = await addressOf(service, id);
  if (email === undefined) return null;
  if ((await sendGuideTo(service, email)) === 'queued') await noteDone('sent-guide', email);
  return {};
};
