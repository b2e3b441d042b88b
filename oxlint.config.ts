// The lint rules. IMPORTS states the import rules of each folder.
import { defineConfig, type OxlintOverride } from 'oxlint';

type Restriction = { readonly group: string[]; readonly message: string };

const ALIASES: Restriction = { group: ['../*'], message: 'Use the # alias of the room.' };
const REACT: Restriction = {
  group: ['react', 'react-dom', 'react-dom/*', '@radix-ui/*', '@tanstack/*'],
  message: 'React belongs to web/.',
};
const SQL: Restriction = {
  group: ['kysely', 'kysely/*', 'pg', 'node:sqlite'],
  message: 'Only server/db, server/codes, server/jobs and server/consent contain SQL.',
};

/** Folders used only for building and testing. */
const WORKSHOP = ['#testing/*', '#build/*', '#stress/*', '#studio/*', '#checks/*', '#e2e/*'];
/**
 * The layers of server/, lowest first. A folder may import only from lower layers; types count as imports. Each folder is listed
 * with the files that other folders and the desk may import; its other files are private.
 */
const FLOORS: readonly Readonly<Record<string, readonly string[]>>[] = [
  { platform: ['*'], attribution: ['*'] },
  {
    // The operator's settings, the files that contain them, and fixed limits.
    settings: ['settings.ts', 'env-file.ts', 'fixed-limits.ts', 'connection-urls.ts'],
    secrets: ['*'],
    campaign: ['campaign.ts', 'campaign-folder.ts', 'campaign-warnings.ts', 'sample.ts'],
    db: [
      'all-tables.ts',
      'engine/connect.ts',
      'engine/ids.ts',
      'engine/outages.ts',
      'engine/page-through-table.ts',
      'engine/row-counts.ts',
      'migrations/migrate.ts',
      'tables/*',
      'queries/*',
      'health.ts',
      'contacts/*',
      'backup/*',
    ],
  },
  // Mailed codes, and the queue of mail and webhooks.
  { codes: ['*'], jobs: ['*'] },
  {
    limits: ['limits.ts', 'breaker.ts'],
    funnel: ['funnel.ts'],
    // Responses of routes, and the built site, which the build writes.
    http: [
      'http.ts',
      'errors.ts',
      'letter-page.ts',
      'send-resource.ts',
      'visitor-address.ts',
      'releases.ts',
      // The desk serves its own pages.
      'security-headers.ts',
      'static-files.ts',
      // The desk reports a read-only database in the same way.
      'health.ts',
    ],
    // Separate files, because the desk has a log but no metrics.
    log: ['logger.ts', 'metrics.ts'],
    // The desk writes leads in the format of webhook events.
    webhooks: ['webhooks.ts', 'lead-as-json.ts'],
    // Separate files, because the desk opens the DNS lookup itself, and "desk lost" needs no stats.
    stats: ['stats.ts', 'mail-platforms.ts'],
    mail: [
      'mail.ts',
      // Each template has a function that queues its mail in the transaction that caused it.
      'templates/code-mail.ts',
      'templates/guide-mail.ts',
      'templates/new-lead-mail.ts',
      'templates/daily-weekly-digest.ts',
      'templates/desk-code-mail.ts',
      'templates/notice-mail.ts',
      'templates/report-on-request.ts',
      // The doctor checks the mail account and the key without opening a service.
      'mailer.ts',
      'dkim-key.ts',
    ],
  },
  { consent: ['chain.ts', 'check.ts', 'sealer.ts', 'withdraw.ts'] },
  {
    leads: ['routes.ts', 'visitor-service.ts', 'email-domain.ts'],
    bounces: ['routes.ts', 'read-message.ts', 'accept-report.ts'],
    housekeeping: ['housekeeping.ts'],
  },
  { startup: ['service.ts', 'main.ts', 'app.ts', 'why-the-start-failed.ts'] },
];
const ROOMS = FLOORS.flatMap((floor) => Object.keys(floor));

/** The private files of all folders except `own`. */
const privatePartsBut = (own?: string): Restriction[] =>
  FLOORS.flatMap((floor) => Object.entries(floor))
    .filter(([name, faces]) => name !== own && !faces.includes('*'))
    .map(([name, faces]) => ({
      group: [`#server/${name}/*`, `#server/${name}/*/*`, ...faces.map((face) => `!#server/${name}/${face}`)],
      message: `This file is private to server/${name}/. FLOORS in oxlint.config.ts lists what the room shows.`,
    }));

const SERVER: Restriction[] = [
  ALIASES,
  {
    group: ['#web/*', '#desk/*', ...WORKSHOP],
    message: 'server/ imports shared/ and campaign/ only; the desk imports the server, never the other way.',
  },
  REACT,
];
const rooms = (names: readonly string[]): string[] =>
  names.flatMap((name) => [`#server/${name}/*`, `#server/${name}/**`]);

/** Forbidden imports by file pattern. The last matching entry replaces earlier ones. */
const IMPORTS: readonly (readonly [files: string[], restrictions: Restriction[]])[] = [
  [['**'], [ALIASES]],
  [
    ['shared/**'],
    [
      ALIASES,
      {
        group: ['#web/*', '#server/*', '#campaign/*', ...WORKSHOP, 'node:*'],
        message: 'shared/ imports only zod.',
      },
      REACT,
    ],
  ],
  [
    ['web/**'],
    [
      ALIASES,
      {
        group: ['#server/*', '#desk/*', ...WORKSHOP, 'node:*'],
        message: 'web/ imports shared/ and campaign/ only.',
      },
      { group: ['#campaign/article/*'], message: 'The article is gated; no public file may hold it.' },
    ],
  ],
  // The files directly in server/ only start code from its folders.
  [['server/*'], [...SERVER, SQL, ...privatePartsBut()]],
  ...FLOORS.flatMap((floor, index) =>
    Object.keys(floor).map((name): [string[], Restriction[]] => [
      [`server/${name}/**`],
      [
        ...SERVER,
        ...(['db', 'codes', 'jobs', 'consent'].includes(name) ? [] : [SQL]),
        {
          group: rooms(
            name === 'db'
              ? ROOMS.filter((other) => other !== 'db' && other !== 'platform')
              : FLOORS.slice(index)
                  .flatMap((above) => Object.keys(above))
                  .filter((other) => other !== name),
          ),
          message:
            name === 'db'
              ? 'db/ knows tables, and platform/ below them.'
              : `${name}/ imports from the floors below its own (FLOORS, oxlint.config.ts).`,
        },
        ...privatePartsBut(name),
      ],
    ]),
  ),
  [
    ['desk/**'],
    [
      ALIASES,
      { group: ['#web/*', ...WORKSHOP], message: 'desk/ imports server/ and shared/ only.' },
      { group: ['#desk/web/*', '#desk/web/*/*'], message: 'desk/web/ runs in a browser.' },
      REACT,
      SQL,
      ...privatePartsBut(),
    ],
  ],
  [
    ['desk/endpoints/**'],
    [
      ALIASES,
      {
        group: ['#*/**', '!#desk/endpoints/*', 'node:*'],
        message: 'desk/endpoints/ is for the browser as well: it imports zod and itself only.',
      },
      REACT,
    ],
  ],
  [
    ['desk/web/**'],
    [
      ALIASES,
      {
        group: ['#server/**', '#campaign/**', ...WORKSHOP, 'node:*'],
        message:
          'desk/web/ runs in a browser: it imports desk/endpoints/, shared/, and the parts of web/ below.',
      },
      {
        group: ['#desk/*/*', '#desk/*.ts', '!#desk/endpoints/*', '!#desk/web/*'],
        message: 'desk/web/ knows the calls of the desk, not what answers them.',
      },
      {
        group: [
          '#web/*/*',
          '#web/*.ts',
          '#web/*.tsx',
          '!#web/ui/*',
          '!#web/styles/*',
          '!#web/theme/*',
          '!#web/frame/mark.tsx',
        ],
        message:
          "desk/web/ has the page's parts, styles and theme; the rest of web/ has the words of a campaign.",
      },
    ],
  ],
  [['**/*.test.ts'], [ALIASES]],
];

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'react', 'jsx-a11y', 'promise', 'node'],
  categories: {
    correctness: 'error',
    suspicious: 'error',
    perf: 'error',
  },
  options: {
    typeAware: true,
    // Instead of `tsc`, which would check the types a second time.
    typeCheck: true,
  },
  rules: {
    eqeqeq: 'error',
    'no-console': 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'no-restricted-properties': [
      'error',
      {
        object: 'request',
        property: 'ip',
        message: 'server/http/visitor-address.ts says where a visitor comes from.',
      },
    ],
    'no-await-in-loop': 'off',
    'no-underscore-dangle': 'off',
    'no-restricted-exports': [
      'error',
      {
        restrictDefaultExports: {
          direct: true,
          named: true,
        },
      },
    ],
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-duplicates': 'error',
    'import/no-unassigned-import': 'off',
    'import/no-named-as-default': 'off',
    'import/no-named-as-default-member': 'off',
    'react/react-in-jsx-scope': 'off',
    'react/no-array-index-key': 'off',
    'react/rules-of-hooks': 'error',
    'typescript/consistent-type-imports': [
      'error',
      {
        disallowTypeAnnotations: false,
      },
    ],
    'typescript/consistent-type-definitions': ['error', 'type'],
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': [
      'error',
      {
        allowForKnownSafeCalls: [
          {
            from: 'package',
            name: ['describe', 'it', 'test', 'suite'],
            package: 'node:test',
          },
        ],
      },
    ],
    'typescript/no-misused-promises': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'unicorn/filename-case': 'error',
    'unicorn/no-array-sort': 'off',
    'unicorn/prefer-add-event-listener': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'typescript/consistent-return': 'off',
    'promise/no-callback-in-promise': 'off',
    'oxc/no-map-spread': 'off',
    'no-unmodified-loop-condition': 'off',
    'jsx-a11y/prefer-tag-over-role': 'off',
    'typescript/require-array-sort-compare': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
  },
  ignorePatterns: ['dist/**', 'node_modules/**', 'test-results/**'],
  overrides: [
    ...IMPORTS.map(([files, patterns]): OxlintOverride => ({
      files: [...files],
      rules: { 'no-restricted-imports': ['error', { patterns }] },
    })),
    { files: ['e2e/**'], rules: { 'react/rules-of-hooks': 'off' } },
    {
      files: ['oxlint.config.ts', 'e2e/playwright.config.ts', 'e2e/global-setup.ts'],
      rules: { 'no-restricted-exports': 'off' },
    },
  ],
});
