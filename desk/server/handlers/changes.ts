import type * as endpoints from '#desk/endpoints/people.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Handler } from '#desk/server/handler.ts';
import { correctAnswers } from '#desk/people/correct.ts';
import { OTHER_COPIES, erasePerson, describeCounts } from '#desk/people/erase.ts';
import { sendGuideTo } from '#desk/people/send-guide.ts';
import {
  findRemovable,
  sealBeforeRemoval,
  suppressAddress,
  removeSuppressions,
} from '#desk/people/suppress.ts';
import { changePerson } from '#desk/audit-log/audit-log.ts';
import { normaliseEmail } from '#shared/lead.ts';

export const correct: Handler<typeof endpoints.correct> = async (
  { service, actor },
  { id, name, company, answers = {} },
) => {
  const changed = [
    ...(name === undefined ? [] : ['name']),
    ...(company === undefined ? [] : ['company']),
    ...Object.keys(answers),
  ];
  if (changed.length === 0) throw new CommandFailure('Nothing was changed. Enter a correction.', 2);
  return changePerson(service, actor, { id }, async (tx, email, log) => {
    await correctAnswers(tx, service, {
      email,
      name,
      company,
      answers: Object.entries(answers).map(([question, text]) => ({ id: question, text })),
    });
    await log('corrected', email, changed.join(', '));
    return {};
  });
};

export const erase: Handler<typeof endpoints.erase> = async ({ service, actor }, { id, email: typed }) => {
  const erasure = await erasePerson(
    service,
    actor,
    { id },
    {
      check: (email) => {
        if (normaliseEmail(typed) !== email)
          throw new CommandFailure(
            'Nothing was erased, because this is not the person’s e-mail address. Type the address as shown above.',
          );
      },
      details: describeCounts,
    },
  );
  if (erasure === null) return null;
  const remains = [...erasure.advice, ...erasure.failures];
  return {
    erased: [`Erased: ${describeCounts(erasure.counts)}.`, OTHER_COPIES, ...remains].join(' '),
    hasRemains: remains.length > 0,
  };
};

export const suppress: Handler<typeof endpoints.suppress> = ({ service, actor }, { id, reason, note }) =>
  changePerson(service, actor, { id }, async (tx, email, log) => {
    if (!(await suppressAddress(tx, service, { email, reason, note: note?.trim() || null })))
      throw new CommandFailure(`${email} was already suppressed for that reason.`);
    await log('suppressed', email, reason);
    return {};
  });

export const unsuppress: Handler<typeof endpoints.unsuppress> = async (
  { service, actor, signal },
  { id, reason, shown },
) => {
  const why = reason.trim();
  if (why === '') throw new CommandFailure('Explain why this address may get mail again.', 2);
  await sealBeforeRemoval(service, { note: why, signal });
  return changePerson(service, actor, { id }, async (tx, email, log) => {
    const found = await findRemovable(tx, service, { email, note: why });
    const removable = found.filter((entry) => shown.includes(entry.reason));
    const { removed, remaining } = await removeSuppressions(tx, service, { email, removable, note: why });
    await log('unsuppressed', email, removed.map((entry) => entry.reason).join(', '));
    return { staysStopped: remaining.length > 0 };
  });
};

export const sendGuide: Handler<typeof endpoints.sendGuide> = async ({ service, actor }, { id }) => {
  const done = await changePerson(service, actor, { id }, async (tx, email, log) => {
    if ((await sendGuideTo(tx, service, email)) === 'queued') await log('sent-guide', email);
    return {};
  });
  service.mail.wake();
  return done;
};
