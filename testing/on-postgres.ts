// Test files that also run on PostgreSQL: db/, one journey per route and command, races, and differing types (big numbers, order, search).
// testing/compare-engines.ts finds statements that these miss.

const DATABASE = [
  'server/db/queries/personal-data',
  'server/db/engine/page-through-table',
  'server/db/engine/statements',
  'server/db/migrations/migrate',
  'server/db/contacts/filter',
  'server/db/contacts/people',
  'server/http/api-walk',
  'server/housekeeping/housekeeping',
];

const VISITORS = [
  'server/leads/article',
  'server/funnel/funnel',
  'server/leads/leads',
  'server/leads/news-consent',
  'server/leads/races',
  'server/leads/attempts',
  'server/leads/variants',
  'server/leads/unsubscribe',
];

const MAIL_AND_EVENTS = [
  'server/consent/chain',
  'server/consent/sealer',
  'server/stats/mail-platforms',
  'server/limits/breaker',
  'server/limits/limits',
  'server/bounces/mail-events',
  'server/mail/templates/new-lead-mail',
  'server/jobs/mail-jobs',
  'server/mail/mail-worker',
  'server/webhooks/bounced-leads',
  'server/webhooks/webhook-worker',
  'server/webhooks/webhooks',
];

const DESK = [
  'desk/commands/backup',
  'desk/commands/erase',
  'desk/commands/import',
  'desk/commands/leads-as-json',
  'desk/commands/leads-out',
  'desk/commands/own-answers',
  'desk/commands/people',
  'desk/commands/report',
  'desk/commands/send-guide',
  'desk/commands/suppress',
  'desk/desk',
  'desk/doctor/data-folder',
  'desk/report/variants',
  'desk/server/handlers/changes',
  'desk/server/handlers/figures',
  'desk/server/handlers/people',
  'desk/server/attacks',
  'desk/server/auth/auth',
  'desk/server/auth/passkeys',
  'desk/audit-log/audit-log',
];

export const ON_POSTGRES: readonly string[] = [...DATABASE, ...VISITORS, ...MAIL_AND_EVENTS, ...DESK].map(
  (name) => `${name}.test.ts`,
);
