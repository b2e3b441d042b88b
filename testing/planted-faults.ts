// The promises of the product and the faults that tests must catch (`npm run prove:tests`). If you move code, update its row.

import { readFileSync } from 'node:fs';
import path from 'node:path';

export type PlantedFault = {
  readonly promise: string;
  readonly fault: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
};

const ATTEMPTS = 'server/leads/attempts.test.ts';
const LEADS = 'server/leads/leads.test.ts';
const RACES = 'server/leads/races.test.ts';
const CONSENT = 'server/leads/consent.test.ts';
const NEWS_CONSENT = 'server/leads/news-consent.test.ts';
const MAIL_WORKER = 'server/mail/mail-worker.test.ts';
const WEBHOOKS = 'server/webhooks/webhooks.test.ts';
const FORGERIES = 'server/consent/forgeries.test.ts';
const ERASURE = 'desk/commands/erase.test.ts';
const DESK_ATTACKS = 'desk/server/attacks.test.ts';

export const FAULTS: readonly PlantedFault[] = [
  {
    promise: 'an attempt is counted and committed before the code is compared',
    fault: 'compare first',
    file: 'server/leads/verify-code.ts',
    find: '  const attempt = await consumeAttempt(db,',
    replace: `
  const early = visitor.browserId === null ? undefined : await findChallenge(db, 'open', { browserId: visitor.browserId, email, now });
  const live = early && newestUnusedCodes(await newestCodesOf(db, { challengeId: early.id }, { unexpiredAt: now }, now));
  const right = live && findCode(parts.secrets, live, digits, MAX_ACCEPTED_CODES);
  if (early && right)
    return withEmailLocked(db, email, (tx) => completeByCode(tx, right, { budget: 'shared', challenge: early }, visitor, now, parts));
  const attempt = await consumeAttempt(db,`,
    tests: [ATTEMPTS],
  },
  {
    promise: 'five wrong attempts end a challenge',
    fault: 'allow a sixth',
    file: 'server/limits/limits.ts',
    find: 'attemptsPerChallenge: codeAttempts,',
    replace: 'attemptsPerChallenge: codeAttempts + 1,',
    tests: [ATTEMPTS],
  },
  {
    promise: 'a resend does not reset the attempts',
    fault: 'reset them when another code is mailed',
    file: 'server/codes/challenges.ts',
    find: "await tx.updateTable('submissions').set(changes)",
    replace: "await tx.updateTable('submissions').set({ ...changes, wrong_attempts: 0 })",
    tests: [ATTEMPTS],
  },
  {
    promise: 'the two newest live codes of a challenge work; the third does not',
    fault: 'accept three',
    file: 'server/settings/fixed-limits.ts',
    find: 'export const MAX_ACCEPTED_CODES = 2;',
    replace: 'export const MAX_ACCEPTED_CODES = 3;',
    tests: [LEADS],
  },
  {
    promise: 'the two newest live codes of a challenge work; the third does not',
    fault: 'accept one',
    file: 'server/settings/fixed-limits.ts',
    find: 'export const MAX_ACCEPTED_CODES = 2;',
    replace: 'export const MAX_ACCEPTED_CODES = 1;',
    tests: [LEADS],
  },
  {
    promise: 'a code works once and until it expires',
    fault: 'keep a used code alive',
    file: 'server/codes/codes.ts',
    find: 'tx.updateTable(table).set({ used_at: now })',
    replace: 'tx.updateTable(table).set({ used_at: null })',
    tests: [LEADS],
  },
  {
    promise: 'a code works once and until it expires',
    fault: 'ignore the expiry',
    file: 'server/codes/codes.ts',
    find: "    .where('expires_at', '>', unexpiredAt)\n",
    replace: "    .where('expires_at', '>', unexpiredAt - 864e5)\n",
    tests: [LEADS],
  },
  {
    promise: "a stranger cannot use up the owner's attempts",
    fault: "count a cookieless attempt on the owner's challenge",
    file: 'server/leads/verify-code.ts',
    find: '  const hasLiveCodes = live.length > 0;\n',
    replace: `
  const hasLiveCodes = live.length > 0;
  if (live[0]?.submission_id)
    await consumeAttemptById(tx, 'submissions', { id: live[0].submission_id, maxAttempts: limits.attemptsPerChallenge });
`,
    tests: [ATTEMPTS],
  },
  {
    promise: 'asking again within the quiet time sends nothing',
    fault: 'send on every request',
    file: 'server/leads/ask-for-code.ts',
    find: '  if (!isRecent(mailingTime(mail, code, now), limits.resendQuietMs, now)) return null;\n',
    replace: '  if (!isRecent(mailingTime(mail, code, now), 0, now)) return null;\n',
    tests: [LEADS],
  },
  {
    promise: 'known and unknown addresses get the same response',
    fault: 'skip the mail for a known lead',
    file: 'server/leads/ask-for-code.ts',
    find: '  const turn = await findTurn(tx, lanes, { now, codeTtlSeconds: config.codeTtlSeconds });\n',
    replace: `
  const known = await tx.selectFrom('leads').select('id').where('email', '=', email).executeTakeFirst();
  if (known) {
    const stored = { codesMailed: 0, expiresAt: now } as const;
    const invented = { id: newIdAt(now), secret_id: secrets[0].id } as Code;
    return requestedOutcome(await storeForm(tx, challenge, form, visitor, stored, now), invented, 60);
  }
  const turn = await findTurn(tx, lanes, { now, codeTtlSeconds: config.codeTtlSeconds });
`,
    tests: [LEADS],
  },
  {
    promise: 'nothing about a lead changes before verification',
    fault: 'update the lead when the form arrives',
    file: 'server/leads/ask-for-code.ts',
    find: '  if (challenge === undefined) {\n    const id = newIdAt(now);\n',
    replace: `
  await tx.updateTable('leads').set({ name: form.name }).where('email', '=', form.email).execute();
  if (challenge === undefined) {
    const id = newIdAt(now);
`,
    tests: [LEADS],
  },
  {
    promise: 'submission, code and outgoing mail are stored in one transaction',
    fault: 'queue the mail after the commit',
    file: 'server/leads/ask-for-code.ts',
    find: '  await queueCodeMail(tx, { id: newIdAt(now), codeId: code.id, recipient, place, now });\n',
    replace: `
  setImmediate(() => {
    void queueCodeMail(parts.database.db, { id: newIdAt(now), codeId: code.id, recipient, place, now }).then(mail.wake, () => {});
  });
`,
    tests: [LEADS],
  },
  {
    promise: 'after a power cut, acknowledged mail and leads are still there',
    fault: 'do not wait for the disk',
    file: 'server/db/engine/sqlite.ts',
    find: '      await whenOnDisk(isWrite);\n',
    replace: '',
    tests: ['server/db/engine/sqlite.test.ts'],
  },
  {
    promise: 'after a crash, acknowledged mail and leads are still there',
    fault: 'mark as sent before SMTP accepts',
    file: 'server/mail/mail-worker.ts',
    find: '  const sent = await mailer.send(',
    replace: `
  await finish('sent', '');
  const sent = await mailer.send(`,
    tests: [MAIL_WORKER],
  },
  {
    promise: 'an expired code is not mailed',
    fault: 'skip the check before sending',
    file: 'server/mail/templates/code-mail.ts',
    find: '    if (code === undefined || !isLive(code, now)) return null;\n',
    replace: '    if (code === undefined) return null;\n',
    tests: [MAIL_WORKER],
  },
  {
    promise: 'temporary SMTP failures retry with back-off',
    fault: 'give up on a 421',
    file: 'server/mail/mailer.ts',
    find: '  if (status < 500 || !FINAL_COMMANDS.has(command)) return',
    replace: '  if (status < 400) return',
    tests: [MAIL_WORKER],
  },
  {
    promise: 'temporary SMTP failures retry with back-off',
    fault: 'retry at once, again and again',
    file: 'server/mail/mail-worker.ts',
    find: 'now + backOffMs(WAITS_MS, mail.attempts, parts.random)',
    replace: 'now',
    tests: [MAIL_WORKER],
  },
  {
    promise: 'permanent SMTP failures stop and keep the reason',
    fault: 'retry a 550',
    file: 'server/mail/mailer.ts',
    find: '  if (status < 500 || !FINAL_COMMANDS.has(command)) return',
    replace: '  if (status < 900) return',
    tests: [MAIL_WORKER],
  },
  {
    promise: 'permanent SMTP failures stop and keep the reason',
    fault: 'forget the reason',
    file: 'server/mail/mail-worker.ts',
    find: "else await finish('failed', outcome.reason);",
    replace: "else await finish('failed', '');",
    tests: [MAIL_WORKER],
  },
  {
    promise: "one network or one slow domain cannot hold up others' mail",
    fault: 'strict first-in, first-out',
    file: 'server/jobs/mail-jobs.ts',
    find: 'turnAt: Math.min(turnAt, now + maxWaitMs)',
    replace: 'turnAt: now',
    tests: ['server/jobs/mail-jobs.test.ts'],
  },
  {
    promise: "one network or one slow domain cannot hold up others' mail",
    fault: 'let one lane hold every connection',
    file: 'server/mail/connection-shares.ts',
    find: 'return own.length >= max;',
    replace: 'return own.length > max;',
    tests: ['server/jobs/mail-jobs.test.ts'],
  },
  {
    promise: 'limits are exact across processes',
    fault: 'count in memory',
    file: 'server/limits/limits.ts',
    find: `  const countUpTo = async (db: Db, key: string, limit: number, windowMs: number, now: number) => {
    if (limit === 0) return ALLOWED;
    const full = await countInWindowUpTo(db, key, { limit, windowMs }, now);
`,
    replace: `  const counts = new Map<string, number>();
  const countUpTo = async (_db: Db, key: string, limit: number, windowMs: number, now: number) => {
    if (limit === 0) return ALLOWED;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const full = counts.get(key)! > limit ? { endsAt: now + windowMs } : null;
`,
    tests: ['server/limits/limits.test.ts'],
  },
  {
    promise: 'X-Forwarded-For counts only from trusted proxies',
    fault: 'trust it always',
    file: 'server/http/visitor-address.ts',
    find: 'if (trust === false) return () => false;',
    replace: 'if (trust === false) return () => true;',
    tests: ['server/http/proxies.test.ts'],
  },
  {
    promise: 'a different origin cannot post',
    fault: 'skip the origin check',
    file: 'server/http/host-and-origin.ts',
    find: "    if (origin === 'ours') return;\n",
    replace: '    if (origin) return;\n',
    tests: ['server/http/under-a-path.test.ts'],
  },
  {
    promise: 'the article needs a session',
    fault: 'skip the session check',
    file: 'server/leads/article.ts',
    find: "    if (reader === undefined) return sendError(reply, 'no-session');\n",
    replace: '    if (reader === undefined) return sendWhole(request, reply, resource);\n',
    tests: [LEADS],
  },
  {
    promise: 'erased or unknown leads have no session',
    fault: 'believe the cookie of an erased lead',
    file: 'server/leads/article.ts',
    find: ': await findReader(database.db, leadId);',
    replace: ': { id: leadId, first_read_at: 1 };',
    tests: [RACES, 'server/db/queries/personal-data.test.ts'],
  },
  {
    promise: 'session and challenge cookies are HttpOnly and signed',
    fault: 'drop HttpOnly',
    file: 'server/http/cookies.ts',
    find: 'httpOnly: true',
    replace: 'httpOnly: false',
    tests: ['server/startup/security.test.ts', LEADS],
  },
  {
    promise: 'session and challenge cookies are HttpOnly and signed',
    fault: 'accept a bad signature',
    file: 'server/secrets/secrets.ts',
    find: '  return genuine && value.startsWith(purpose)',
    replace: '  return (genuine || value) && value.startsWith(purpose)',
    tests: [LEADS],
  },
  {
    promise: 'consent receipt: exact wording, version, times, IP addresses',
    fault: 'store the current wording instead of the one shown',
    file: 'server/leads/routes.ts',
    find: '      consentVersion: wordings.consentVersion,\n',
    replace: '      consentVersion: campaign.consent.version,\n',
    tests: [CONSENT],
  },
  {
    promise: 'consent receipt: exact wording, version, times, IP addresses',
    fault: 'store the IP address of the form twice',
    file: 'server/db/tables/leads.ts',
    find: '    verified_from_address: verifiedFromAddress,\n',
    replace: '    verified_from_address: submission.client_address,\n',
    tests: [CONSENT, LEADS],
  },
  {
    promise: 'consent receipt: exact wording, version, times, IP addresses',
    fault: 'store the time of the verification as that of the form',
    file: 'server/db/tables/leads.ts',
    find: '    given_at: submission.given_at,\n',
    replace: '    given_at: now,\n',
    tests: [CONSENT, LEADS],
  },
  {
    promise: 'consent receipt: exact wording, version, times, IP addresses',
    fault: 'record a consent to news although its box was not ticked',
    file: 'server/leads/routes.ts',
    find: '      newsConsentVersion: wordings.newsConsentVersion,\n',
    replace:
      '      newsConsentVersion: wordings.newsConsentVersion ?? campaign.consent.news?.version ?? null,\n',
    tests: [NEWS_CONSENT],
  },
  {
    promise: 'the consent chain reveals edited entries',
    fault: 'skip the comparison of contents with rows',
    file: 'server/consent/check.ts',
    find: '  return fields.length === 0 ? [] : error(',
    replace: '  return fields.length >= 0 ? [] : error(',
    tests: [FORGERIES],
  },
  {
    promise: 'the consent chain reveals edited entries',
    fault: 'skip the comparison of contents with their hash',
    file: 'server/consent/check.ts',
    find: '  if (content === null || salt === null || hashOfContent(salt, content) !== hash) return null;\n',
    replace: '  if (content === null || salt === null || hash === null) return null;\n',
    tests: [FORGERIES],
  },
  {
    promise: 'the consent chain reveals removed entries',
    fault: 'skip the comparison of positions',
    file: 'server/consent/check.ts',
    find: '  if (position !== before.position + 1) return error(',
    replace: '  if (position < 0) return error(',
    tests: [FORGERIES],
  },
  {
    promise: 'the consent chain reveals removed entries',
    fault: 'let a removed entry concern only earlier ones',
    file: 'server/consent/check.ts',
    find: "[errorAt(position, expected, found, state, 'all')]",
    replace: '[errorAt(position, expected, found, state, [0, position])]',
    tests: [FORGERIES],
  },
  {
    promise: 'the consent chain reveals removed entries',
    fault: 'skip the comparison of the end with the signed head',
    file: 'server/consent/check.ts',
    find: '  if (position > 0 && row?.hash !== hash)\n',
    replace: '  if (position < 0)\n',
    tests: [FORGERIES],
  },
  {
    promise: 'the consent chain reveals added and swapped entries',
    fault: 'skip the comparison of hashes',
    file: 'server/consent/check.ts',
    find: '  if (previous === before.hash && hash === hashOfEntry(entry)) return [];\n',
    replace: '  if (previous !== null) return [];\n',
    tests: [FORGERIES],
  },
  {
    promise: 'the consent chain reveals added and swapped entries',
    fault: 'accept any signature',
    file: 'server/consent/check.ts',
    find: '  const found = isGenuine\n',
    replace: '  const found = isGenuine || hash !== null\n',
    tests: [FORGERIES],
  },
  {
    promise: 'unsubscribing works with one press',
    fault: 'do nothing on a press',
    file: 'server/consent/withdraw.ts',
    find: "  await webhooks.queue(tx, { type: 'lead.unsubscribed', leadId, now });\n",
    replace: '',
    tests: ['server/leads/unsubscribe.test.ts'],
  },
  {
    promise: 'forged unsubscribe links do nothing',
    fault: 'accept an unsigned link',
    file: 'server/secrets/mail-links.ts',
    find: 'unsign(secrets, purpose, purpose + token)',
    replace: "(token.split('.')[0] ?? null)",
    tests: ['server/leads/unsubscribe.test.ts'],
  },
  {
    promise: 'a suppressed address gets no mail but a code it asked for',
    fault: 'ignore the list',
    file: 'server/mail/mail-worker.ts',
    find: 'kind.respectsSuppression && (await isSuppressed(parts, recipient))',
    replace: 'kind.respectsSuppression && (await isSuppressed(parts, recipient)) && false',
    tests: ['server/mail/templates/guide-mail.test.ts'],
  },
  {
    promise: 'a suppressed address gets no mail but a code it asked for',
    fault: 'hold the code back, too',
    file: 'server/mail/templates/code-mail.ts',
    find: '  respectsSuppression: false,',
    replace: '  respectsSuppression: true,',
    tests: ['server/mail/dead-address.test.ts'],
  },
  {
    promise: 'only permanent bounces suppress',
    fault: 'suppress on 4xx',
    file: 'server/platform/mail-server-replies.ts',
    find: "  if (severity === '4' || enhancedClass === '4') return 'for now';\n",
    replace: "  if (severity === '4' || enhancedClass === '4') return 'no such address';\n",
    tests: ['desk/commands/bounce.test.ts'],
  },
  {
    promise: 'webhooks are signed',
    fault: 'drop the signature',
    file: 'server/webhooks/webhook-sender.ts',
    find: "signers.map((signer) => signer.sign(id, timestamp, payload)).join(' ')",
    replace: "''",
    tests: ['server/webhooks/webhook-sender.test.ts', WEBHOOKS],
  },
  {
    promise: 'webhooks arrive at least once',
    fault: 'drop an event that failed',
    file: 'server/webhooks/webhook-worker.ts',
    find: '? { reply, due_at: nextAttemptAt(outcome, event, { now, random }) }',
    replace: "? { state: 'dead' as const, reply, finished_at: now }",
    tests: ['server/webhooks/webhook-worker.test.ts'],
  },
  {
    promise: 'webhooks arrive in order per lead',
    fault: 'take whichever is due',
    file: 'server/jobs/webhook-jobs.ts',
    find: 'and earlier.position < webhook_events.position',
    replace: 'and earlier.position < webhook_events.position and 1 = 0',
    tests: ['server/webhooks/webhook-worker.test.ts', WEBHOOKS],
  },
  {
    promise: 'webhooks never go to private addresses',
    fault: 'believe the name',
    file: 'server/webhooks/webhook-sender.ts',
    find: '      lookup: guardedLookup(resolve, rules),\n',
    replace: '      lookup: guardedLookup(resolve, { allowPrivate: true, allowPublic: true }),\n',
    tests: ['server/webhooks/webhook-sender.test.ts'],
  },
  {
    promise: 'webhooks never go to private addresses',
    fault: 'take a redirect for a success',
    file: 'server/webhooks/webhook-sender.ts',
    find: '  if (statusCode >= 200 && statusCode < 300)',
    replace: '  if (statusCode >= 200 && statusCode < 400)',
    tests: ['server/webhooks/webhook-sender.test.ts'],
  },
  {
    promise: 'erasing removes a person everywhere',
    fault: 'leave one table out',
    file: 'server/db/all-tables.ts',
    find: "  corrections: table({\n    isAbout: isOfLead,\n    erasure: 'delete',",
    replace: "  corrections: table({\n    isAbout: isOfLead,\n    erasure: 'keep',",
    tests: [ERASURE, 'server/db/queries/personal-data.test.ts'],
  },
  {
    promise: 'erasing removes a person from the bytes of the files',
    fault: 'leave deleted data in free pages',
    file: 'server/db/engine/connect.ts',
    find: "    sqlite.exec('pragma secure_delete = on');\n",
    replace: "    sqlite.exec('pragma secure_delete = off');\n",
    tests: [ERASURE],
  },
  {
    promise: 'erased people are not imported again',
    fault: 'skip the check',
    file: 'server/db/tables/imported-leads.ts',
    find: "    else if (reasons.includes('erased')) counts.erased += 1;\n",
    replace: "    else if (reasons.includes('erased')) newPeople.push(person);\n",
    tests: ['desk/commands/import.test.ts'],
  },
  {
    promise: 'an import never revives an unsubscribed person',
    fault: 'skip the check',
    file: 'server/db/tables/imported-leads.ts',
    find: '    else if (reasons.length > 0) counts.suppressed += 1;\n',
    replace: '',
    tests: ['desk/commands/import.test.ts'],
  },
  {
    promise: 'an import never revives an unsubscribed person',
    fault: 'ignore columns of opt-outs',
    file: 'desk/import/mail-status.ts',
    find: "filter((text) => text !== '' && !allowsMail(kind, text))",
    replace: "filter((text) => text !== '' && kind !== 'optedOut' && !allowsMail(kind, text))",
    tests: ['desk/commands/import.test.ts'],
  },
  {
    promise: 'expiry deletes unverified data after RETENTION_DAYS',
    fault: 'skip the forms',
    file: 'server/db/queries/expiry.ts',
    find: ' unverifiedStep(unverified),',
    replace: '',
    tests: ['server/housekeeping/housekeeping.test.ts'],
  },
  {
    promise: 'expiry deletes unverified data after RETENTION_DAYS',
    fault: 'skip the codes',
    file: 'server/db/queries/expiry.ts',
    find: ' codesStep(unverified),',
    replace: '',
    tests: ['server/housekeeping/housekeeping.test.ts'],
  },
  {
    promise: 'a damaged backup is refused before anything changes',
    fault: 'skip the integrity check',
    file: 'server/db/backup/backup.ts',
    find: "    if (sound?.['integrity_check'] !== 'ok') return { type: 'damaged' };\n",
    replace: "    if (sound === undefined) return { type: 'damaged' };\n",
    tests: ['desk/commands/restore.test.ts'],
  },
  {
    promise: 'a damaged backup is refused before anything changes',
    fault: 'skip the check of the settings and words in it',
    file: 'server/db/backup/backup-files.ts',
    find: '    if (digestOf({ name, content }) !== sha256) return null;\n',
    replace: '',
    tests: ['desk/commands/backup.test.ts'],
  },
  {
    promise: 'backup while writing restores whole',
    fault: 'leave out the secret',
    file: 'desk/commands/instance-files.ts',
    find: '    [SECRET, secretPlaceOf(instance)],\n',
    replace: '',
    tests: ['desk/commands/backup.test.ts'],
  },
  {
    promise: 'exports never run as formulas',
    fault: 'do not escape =',
    file: 'desk/export/csv.ts',
    find: 'String.raw`[=+',
    replace: 'String.raw`[+',
    tests: ['desk/export/csv.test.ts'],
  },
  {
    promise: 'every exported row round-trips',
    fault: 'drop a line break',
    file: 'desk/export/csv.ts',
    find: 'const QUOTED = /[",\\r\\n]/;',
    replace: 'const QUOTED = /[",]/;',
    tests: ['desk/export/csv.test.ts'],
  },
  {
    promise: 'no personal data, code or secret in logs',
    fault: 'log the message of an error',
    file: 'server/log/logger.ts',
    find: "    type: identifier(thrown.constructor.name) ?? 'Error',\n",
    replace: '    type: thrown.message,\n',
    tests: ['server/log/logger.test.ts', 'server/startup/security.test.ts'],
  },
  {
    promise: 'no personal data, code or secret in logs',
    fault: 'log the body of a form',
    file: 'server/leads/routes.ts',
    find: '    const clientAddress = visitorAddress(request);\n    if (clientAddress === null) return dropRequest(reply);\n    const { email }',
    replace:
      "    const clientAddress = visitorAddress(request);\n    if (clientAddress === null) return dropRequest(reply);\n    request.log.info({ body: request.body }, 'A form came.');\n    const { email }",
    tests: ['server/startup/security.test.ts', LEADS],
  },
  {
    promise: 'the desk: only listed users',
    fault: 'keep the sessions of a removed user',
    file: 'desk/server/desk-app.ts',
    find: "  if (access.kind === 'people') await deleteDeskAccess(database.db, { except: [...access.people.keys()] });\n",
    replace: '',
    tests: ['desk/server/auth/auth.test.ts'],
  },
  {
    promise: 'the desk: responses do not reveal desk users',
    fault: 'store no request of an unlisted person',
    file: 'desk/server/auth/sign-in.ts',
    find: '    await insertSignIn(tx, {\n',
    replace: '    if (!isAllowed) return accepted;\n    await insertSignIn(tx, {\n',
    tests: [DESK_ATTACKS],
  },
  {
    promise: 'the desk: `read` users cannot change or export',
    fault: 'skip the role check',
    file: 'desk/server/auth/desk-users.ts',
    find: "      if (needs === 'all' && user.role !== 'all') return refuse(reply, 'may-not', VIEW_ONLY);\n",
    replace: '',
    tests: [DESK_ATTACKS],
  },
  {
    promise: 'the desk: every action is in the audit log',
    fault: 'skip one log entry',
    file: 'desk/server/handlers/changes.ts',
    find: "    await log('suppressed', email, reason);\n",
    replace: '',
    tests: ['desk/audit-log/audit-log.test.ts', 'desk/server/handlers/changes.test.ts'],
  },
  {
    promise: 'a failing disk is reported until a write succeeds',
    fault: 'take a transaction that only reads for a write',
    file: 'server/db/engine/sqlite.ts',
    find: '    if (isWrite) writeMonitor.succeeded();\n',
    replace: '    writeMonitor.succeeded();\n',
    tests: ['server/db/engine/sqlite.test.ts'],
  },
  {
    promise: 'a mistake in words is reported by file and line before a visitor meets it',
    fault: 'let the default stand',
    file: 'server/campaign/words-file.ts',
    find: '  if (result.success && mistakes.length === 0) return',
    replace:
      "  if (mistakes.length === 0 && (result.success || !result.error.issues.some(({ code }) => code !== 'unrecognized_keys')))\n    return { type: 'words', words: words as Words };\n  if (result.success) return",
    tests: ['server/campaign/campaign-mistakes.test.ts'],
  },
  {
    promise: 'a mistake in settings is reported before a visitor meets it',
    fault: 'let the default stand',
    file: 'server/settings/setting-values.ts',
    find: '    return value >= min && value <= max ? value : null;\n',
    replace: '    return value < min || value > max ? null : value;\n',
    tests: ['server/settings/settings.test.ts'],
  },
  {
    promise: 'a full disk costs log lines and new forms, never the page',
    fault: 'let the log throw',
    file: 'server/log/log-output.ts',
    find: '    done(error as NodeJS.ErrnoException, 0);\n    return;\n',
    replace: '    throw error;\n',
    tests: ['server/log/log-output.test.ts'],
  },
  {
    promise: 'the page: delays and limits of the specification',
    fault: 'a toast stays for 6 seconds',
    file: 'web/ui/toaster.tsx',
    find: 'const AUTO_CLOSE_MS = 5000;',
    replace: 'const AUTO_CLOSE_MS = 6000;',
    tests: ['e2e/toasts.spec.ts'],
  },
  {
    promise: 'the page: delays and limits of the specification',
    fault: 'two toasts at once',
    file: 'web/ui/toast-store.ts',
    find: 'const TOAST_LIMIT = 1;',
    replace: 'const TOAST_LIMIT = 2;',
    tests: ['e2e/toasts.spec.ts', 'web/ui/toast-store.test.ts'],
  },
  {
    promise: 'the page: delays and limits of the specification',
    fault: 'a tooltip opens after 300 ms',
    file: 'web/ui/tooltips.tsx',
    find: 'const DELAY_MS = 700;',
    replace: 'const DELAY_MS = 300;',
    tests: ['e2e/tooltips.spec.ts'],
  },
  {
    promise: 'the page: words of the specification',
    fault: 'another sentence for a short name',
    file: 'testing/campaign/interface.yaml',
    find: 'nameTooShort: Name must be at least',
    replace: 'nameTooShort: A name has at least',
    tests: ['e2e/form.spec.ts'],
  },
  {
    promise: 'the first paint does not wait for the application',
    fault: 'load the application before intent',
    file: 'web/boot.ts',
    find: 'for (const type of INTENTS) document.addEventListener(type, onIntent, true);',
    replace: 'for (const type of INTENTS) document.addEventListener(type, onIntent, true);\nvoid begin();',
    tests: ['e2e/press-while-starting.spec.ts', 'e2e/later-stages.spec.ts'],
  },
];

/** Returns the source of the fault's file with the fault planted. */
export function plantedSource(folder: string, { file, find, replace, promise }: PlantedFault): string {
  const source = readFileSync(path.join(folder, file), 'utf8');
  const parts = source.split(find);
  if (parts.length !== 2)
    throw new Error(
      `${file} contains the text to replace ${parts.length - 1} times, expected once ("${promise}"):\n${find}\nChange the row in testing/planted-faults.ts.`,
    );
  return parts.join(replace);
}
