import { pluralForm } from '#shared/words.ts';

const NUMBERS = new Intl.NumberFormat('en-GB');

export const number = (value: number): string => NUMBERS.format(value);

const SHORT = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });

/** At most five characters: 9,999, then 12.3K. */
export const shortNumber = (value: number): string => (value < 10_000 ? NUMBERS : SHORT).format(value);

export const counted = (count: number, one: string, other = `${one}s`): string =>
  `${number(count)} ${pluralForm({ one, other }, count, 'en')}`;

export const frame = {
  desk: 'Desk',
  titleOf: (page: string): string => `${page} – Desk`,
  skip: 'Skip to content',
  navigation: 'Pages of the desk',
  menu: 'Menu',
  openMenu: 'Open the menu',
  close: 'Close',
  openPage: 'Open the page',
  theme: 'Switch between light and dark',
  signOut: 'Sign out',
  atTheMachine: 'At the machine',
  roles: { read: 'May read', all: 'May read and change' },
  notFound: {
    title: 'There is no such page',
    text: 'The URL is mistyped, or belongs to another release of the desk.',
    back: 'Go to Today',
  },
  announcements: 'Announcements',
  dismiss: 'Dismiss',
} as const;

export const pages = {
  today: 'Today',
  leads: 'Leads',
  companies: 'Companies',
  lost: 'Lost',
  report: 'Report',
  mail: 'Mail',
  doctor: 'Doctor',
  log: 'Audit log',
  account: 'Account',
} as const;

export const failure = {
  title: 'This could not be loaded',
  again: 'Try again',
  loading: 'Loading …',
  offline: 'The server could not be reached. Check your connection, then try again.',
  noAnswer: 'The server did not respond within a minute. Try again later.',
  broken: 'The response arrived incomplete. Try again.',
  noSentence: (status: number): string =>
    `Something between you and the desk answered with status ${status}. Check the proxy in front of the desk.`,
} as const;

export const parts = {
  utc: (time: string): string => `${time} UTC`,
  none: '–',
  zone: 'Days are in UTC, both included.',
  cancel: 'Cancel',
  close: 'Close',
  working: 'Working …',
  more: 'Show more',
} as const;

export const states = {
  verified: { many: 'Leads', since: 'Verified' },
  suppressed: { many: 'Suppressed leads', since: 'Verified' },
  unverified: { many: 'Unverified people', since: 'Asked' },
  imported: { many: 'Imported people', since: 'Imported' },
} as const;

export const suppressionReasons: Readonly<Record<string, string>> = {
  'by-hand': 'Stopped by hand',
  unsubscribed: 'Unsubscribed',
  complained: 'Reported as spam',
  bounced: 'Mail came back',
  erased: 'Erased',
};

export const personPage = {
  title: 'Person',
  states: {
    verified: 'Lead',
    suppressed: 'Gets no mail',
    unverified: 'Not verified',
    imported: 'Imported',
  },
  notFound: {
    title: 'This person is not here',
    text: 'They were erased, or the URL of this page is incomplete. Look for them in the list of leads.',
    link: 'To the leads',
  },
  facts: {
    heading: 'What is known',
    company: 'Company',
    since: {
      verified: 'Lead since',
      suppressed: 'Lead since',
      unverified: 'Asked for a code',
      imported: 'Imported',
    },
    firstRead: 'First read the guide',
    notRead: 'Not yet',
    source: 'Source',
    campaign: 'Campaign',
    variant: 'Variant of the page',
    none: '–',
  },
  stopped: {
    heading: 'Gets no mail, except a code they ask for',
    since: 'since',
    undo: 'Undo',
    cannotUndo: 'The person decided this. Only they can come back, with a new code on the page.',
  },
  consent: {
    heading: 'Consent',
    given: 'Given',
    version: 'Wording',
    proof: 'Proof to print',
    none: 'There is no consent: this address was never verified here.',
  },
  story: {
    heading: 'Timeline',
    details: 'Details',
    empty: 'Nothing is kept about this person any more.',
  },
  actions: {
    correct: 'Correct',
    sendGuide: 'Send the guide again',
    suppress: 'Stop mail',
    erase: 'Erase',
  },
  correct: {
    title: 'Correct the answers',
    text: 'The timeline keeps the earlier answers.',
    name: 'Full name',
    company: 'Company',
    now: (held: string) => (held === '' ? 'Now: no answer' : `Now: ${held}`),
    notAsked: (label: string) => `${label} (not asked any more)`,
    noAnswer: 'No answer',
    takeAway: 'Leave an answer empty to remove it.',
    action: 'Save',
    done: 'The answers are corrected.',
  },
  erase: {
    title: (email: string) => `Erase ${email}?`,
    text: 'This removes the person from every table: answers, mail, consent and its proof, notes of exports, messages to webhooks. It cannot be undone.',
    elsewhere: 'Earlier exports and backups still contain the person. Erase them there as well.',
    label: (email: string) => `Type ${email} to confirm`,
    differs: 'This is not the address of this person.',
    action: 'Erase for good',
  },
  suppress: {
    title: (email: string) => `Stop mail to ${email}?`,
    text: 'The address gets no mail from this page any more, except a code that its owner asks for.',
    reason: 'Reason',
    reasons: {
      'by-hand': 'My own decision',
      unsubscribed: 'The person unsubscribed elsewhere',
      complained: 'The person complained',
      bounced: 'Mail to the address comes back',
    },
    means: {
      'by-hand': 'The consent stays. You can undo this.',
      unsubscribed: 'Withdraws the consent. Undo it only if you were wrong about the person.',
      complained: 'Withdraws the consent. Only the person can come back, with a new code.',
      bounced: 'The consent stays. You can undo this.',
    },
    note: 'Note: why, or at whose request (optional)',
    action: 'Stop mail',
    done: 'The address gets no mail any more.',
  },
  unsuppress: {
    title: (email: string) => `Mail ${email} again?`,
    text: 'Only if the stop was a mistake, or no longer applies. A lead’s reason is kept in the chain of consents.',
    reason: 'Why mail may be sent again',
    action: 'Mail again',
    done: (staysStopped: boolean) =>
      staysStopped
        ? 'That reason is gone. The others stay, so the address gets no mail.'
        : 'The address can be mailed again.',
  },
  sendGuide: {
    title: (email: string) => `Send the guide to ${email} again?`,
    text: 'The mail is queued at once. The timeline shows whether it arrived.',
    action: 'Send',
    done: 'The guide is queued.',
  },
} as const;

export const lost = {
  title: 'Lost',
  about:
    'People who asked for a code and never entered one. They have not agreed to anything: fix what stopped them, and do not write to them.',
  period: 'Asked',
  last: (days: number) => (days === 1 ? 'Today' : `Last ${days} days`),
  ownDays: 'Other days',
  from: 'From',
  to: 'To',
  show: 'Show',
  why: 'Why',
  platform: 'Mail platform',
  source: 'Source',
  all: 'All',
  count: (shown: number, all: number) =>
    shown === all
      ? `${counted(all, 'person', 'people')}.`
      : `${number(shown)} of ${counted(all, 'person', 'people')}.`,
  soFar: 'Still reading …',
  more: 'Read on',
  showMore: 'Show more',
  caption: 'People who entered no code',
  open: (count: number) => `${counted(count, 'more person', 'more people')} can still enter a code.`,
  columns: { asked: 'Asked', person: 'Person', platform: 'Platform', source: 'Source', why: 'Why' },
  wrongTries: (count: number) => counted(count, 'wrong attempt', 'wrong attempts'),
  codes: (count: number) => counted(count, 'code', 'codes'),
  empty: {
    title: 'No one was lost',
    text: 'Everyone who asked for a code in this time entered it, or still can.',
  },
  noneChosen: { title: 'No one fits', text: 'Remove a filter.', clear: 'Clear the filters' },
} as const;

export const report = {
  title: 'Report',
  period: 'Period',
  source: 'Source',
  campaign: 'Campaign',
  everySource: 'All sources',
  everyCampaign: 'All campaigns',
  variant: 'Variant',
  everyVariant: 'All variants',
  download: 'Download',
  counting: 'Counting …',
  countingLong: 'Still counting. With a million leads this takes some seconds.',
} as const;

export const mail = {
  title: 'Mail',
  stuck: 'The database cannot be written: nothing is sent until it can. The doctor says why.',
  waiting: {
    heading: 'Waits to be sent',
    caption: 'Waiting mail by domain',
    none: 'No mail waits.',
    columns: { domain: 'Domain', count: 'Mails', oldest: 'The oldest since', putOff: 'Put off' },
  },
  refused: {
    heading: 'Refused in the last 30 days',
    caption: 'Refused mail by domain',
    none: 'No mail server has refused a mail.',
    columns: { domain: 'Domain', reply: 'The mail server said', count: 'Mails', last: 'Last' },
  },
  suppressions: {
    heading: 'Not to be mailed',
    caption: 'Addresses that get no mail',
    about: 'These addresses get no mail, except a code they ask for.',
    none: 'Every address may be mailed.',
    erased: 'An erased address',
    columns: { email: 'Address', reason: 'Reason', since: 'Since', note: 'Note' },
    more: 'Show more',
  },
  webhooks: {
    heading: 'Webhooks',
    caption: 'Messages to webhooks',
    off: 'No webhooks are set up. With WEBHOOK_URLS, other programs get each lead at once.',
    counts: (queued: number, dead: number) =>
      `${counted(queued, 'message waits', 'messages wait')}, ${counted(dead, 'was given up', 'were given up')}.`,
    none: 'Every message has arrived.',
    columns: {
      made: 'Made',
      type: 'Event',
      to: 'To',
      state: 'State',
      tries: 'Attempts',
      answer: 'Last response',
    },
    states: { queued: 'Waits', dead: 'Given up' },
    nextTry: 'Next attempt',
    retry: 'Send again',
    retryAll: 'Send all again',
    retryOf: (type: string) => `Send again: ${type}`,
    revived: (count: number) => `${counted(count, 'message is', 'messages are')} sent again.`,
    noneRevived: 'None of them was given up any more.',
  },
} as const;

export const doctor = {
  title: 'Doctor',
  looked: 'Last checked',
  again: 'Check again',
  looking: 'Checking settings, database, mail account and DNS. This takes up to half a minute.',
  states: { problem: 'Problem', warning: 'Warning', note: 'Note', ok: 'OK' },
  headings: {
    problem: 'Codes do not arrive, or are not safe',
    warning: 'Works, but should be fixed',
    note: 'Good to know',
    ok: 'OK',
  },
  fine: (count: number) => `${counted(count, 'check')} found nothing to fix`,
  summary: (findings: readonly { readonly state: string }[]) => {
    const of = (state: string) => findings.filter((one) => one.state === state).length;
    return `${counted(of('problem'), 'problem')}, ${counted(of('warning'), 'warning')}.`;
  },
  copyName: (part: string, check: string) => `${part} for ${check}`,
  publish: 'Publish this record where the DNS of your domain is kept',
  record: { name: 'Name', type: 'Type', value: 'Value' },
} as const;

export const copy = {
  copy: 'Copy',
  copied: 'Copied',
  failed: 'Press Ctrl+C',
  copyOf: (what: string) => `Copy ${what}`,
} as const;

export const log = {
  title: 'Audit log',
  about: 'Actions in the desk and by its commands, kept for as long as personal data.',
  columns: { at: 'When', who: 'Who', deed: 'What', about: 'About', details: 'Details', from: 'From' },
  deeds: {
    'signed-in': 'Signed in',
    'signed-out': 'Signed out',
    refused: 'Entered a wrong code or passkey',
    looked: 'Looked',
    exported: 'Exported',
    imported: 'Imported',
    corrected: 'Corrected',
    erased: 'Erased',
    suppressed: 'Stopped mail',
    unsuppressed: 'Undid a stop of mail',
    'sent-guide': 'Sent the guide again',
    'retried-webhooks': 'Sent webhooks again',
    'downloaded-report': 'Downloaded a report',
    'added-passkey': 'Added a passkey',
    'removed-passkey': 'Removed a passkey',
  },
  empty: { title: 'Nothing yet', text: 'No one has signed in, and no command has changed anything.' },
} as const;

export const signIn = {
  title: 'Sign in to the desk',
  text: 'Enter your e-mail address. If it may sign in, a six-digit code arrives there.',
  ended: 'Your session has ended. Sign in again to go on where you were.',
  address: 'E-mail address',
  noAddress: 'Enter your e-mail address, such as ada@example.com.',
  send: 'Send the code',
  sending: 'Sending …',
  codeTitle: 'Enter the code',
  codeText: (email: string): string =>
    `If ${email} may sign in, a code is on its way. It is valid in this browser only.`,
  code: 'Six-digit code',
  signIn: 'Sign in',
  signingIn: 'Signing in …',
  again: 'Send a new code',
  againIn: (seconds: number): string => `A new code can be sent in ${counted(seconds, 'second')}`,
  otherAddress: 'Use another address',
} as const;

export const enter = {
  title: 'Opening the desk',
  working: 'One moment …',
  failed: 'This link does not open the desk',
  noToken:
    'A link works once and for ten minutes. Stop the command that showed it, and start it again for a new one:',
} as const;

export const account = {
  lead: (who: string, role: string): string => `${who} · ${role}`,
  sessions: 'Sessions',
  sessionsLead: 'Where you are signed in. A session ends by itself after twelve hours.',
  browser: 'Browser',
  unknownBrowser: 'Unknown browser',
  thisOne: 'this one',
  from: 'From',
  begun: 'Signed in',
  ends: 'Ends',
  action: 'End it',
  end: 'End',
  endOf: (browser: string): string => `End the session of ${browser || 'an unknown browser'}`,
  endTitle: 'End this session?',
  endText: 'That browser has to sign in again.',
  endThisText: 'It is the one you are using: you will have to sign in again.',
  endAction: 'End the session',
  ended: 'The session has ended.',
} as const;

export const passkeys = {
  use: 'Use a passkey',
  waiting: 'Waiting for the browser …',
  heading: 'Passkeys',
  lead: 'Sign in with your fingerprint, your face or a PIN, without waiting for a mail.',
  notHere: 'This browser cannot add passkeys here.',
  none: 'You have no passkey yet.',
  name: 'Passkey',
  added: 'Added',
  used: 'Last used',
  notUsed: 'Not yet',
  add: 'Add a passkey',
  addText: 'Your browser asks where to keep it, and for your fingerprint, your face or a PIN.',
  nameLabel: 'Name',
  noName: 'Enter a name, such as the device that keeps the passkey.',
  addAction: 'Add the passkey',
  isAdded: 'The passkey is added. You can sign in with it from now on.',
  remove: 'Remove',
  removeOf: (name: string): string => `Remove the passkey ${name}`,
  removeTitle: (name: string): string => `Remove “${name}”?`,
  removeText:
    'It will no longer open the desk. Delete it where it is kept too, or your browser goes on offering it. Sessions that began with it go on until you end them.',
  isRemoved: 'The passkey is removed.',
  failures: {
    add: 'The browser could not make a passkey. Try again, or use another browser.',
    use: 'The browser could not use a passkey. Try again, or sign in with a mailed code.',
    known:
      'This device already has one of your passkeys. Sign in with that one, or remove it from the list before you add another.',
    unfit:
      'This device cannot keep a passkey. Set up its screen lock, or use another device or a security key with a PIN.',
    wrongAddress: 'Open the desk at its own URL, with https or as localhost: passkeys only work there.',
  },
} as const;

const SPAN_BEFORE = {
  day: 'the same hours of yesterday',
  week: 'the 7 days before',
  month: 'the 30 days before',
} as const;

export const today = {
  toDo: 'What needs doing',
  nothingToDo: 'Nothing. Mail goes out, and the page is as it should be.',
  signs: { problem: 'Problem', warning: 'Warning', note: 'Note' },
  look: 'Look',
  spans: { day: 'Today, in UTC', week: 'Last 7 days', month: 'Last 30 days' },
  leadsOf: (count: number): string => (count === 1 ? 'lead' : 'leads'),
  steps: {
    seen: 'Saw the page',
    opened: 'Opened the form',
    asked: 'Asked for a code',
    leads: 'Became leads',
    read: 'Read the article',
  },
  notKnown: 'Not known for this time',
  sign: (direction: 'more' | 'less'): string => (direction === 'more' ? '+' : '−'),
  share: (share: number): string => `${Math.round(share * 100)}%`,
  comparedWith: (span: keyof typeof SPAN_BEFORE): string => `Compared with ${SPAN_BEFORE[span]}`,
  compared: (direction: 'more' | 'less' | 'same', by: number, span: keyof typeof SPAN_BEFORE): string =>
    direction === 'same'
      ? `as many as in ${SPAN_BEFORE[span]}`
      : `${number(by)} ${direction === 'more' ? 'more' : 'fewer'} than in ${SPAN_BEFORE[span]}`,
  nothingBefore: 'nothing to compare with yet',
  days: 'Leads of the last 30 days',
  noDays: 'No leads in the last 30 days.',
  daysAbout: (all: number, most: number, day: string): string =>
    `${counted(all, 'lead')} in the last 30 days, most of them on ${day}: ${number(most)}.`,
  newest: 'Newest leads',
  allLeads: 'All leads',
  noLeads: 'The first lead will appear here.',
  name: 'Name',
  company: 'Company',
  source: 'Source',
  since: 'Since',
} as const;

export const filter = {
  search: 'Search',
  searchHint: 'Address, name or company',
  state: 'State',
  source: 'Source',
  anySource: 'Any source',
  more: (chosen: number): string => (chosen === 0 ? 'More filters' : `More filters (${chosen})`),
  from: 'From',
  to: 'To',
  domain: 'Domain of the address',
  domainHint: 'example.com',
  flag: 'Flag',
  anyFlag: 'Any flag',
  question: 'Answer to',
  anyAnswer: 'Any question',
  answer: 'Answer has',
  clear: 'Clear the filters',
  searched: (text: string): string => `with “${text}” in address, name or company`,
  ofSource: (source: string): string => `source ${source}`,
  flagged: (flag: string): string => `flag ${flag}`,
  atDomain: (domain: string): string => `at ${domain}`,
  answered: (question: string, answer: string): string => `“${answer}” in the answer to “${question}”`,
  fromDay: (day: string): string => `from ${day}`,
  toDay: (day: string): string => `to ${day}`,
} as const;

export const leads = {
  name: 'Name',
  email: 'E-mail',
  company: 'Company',
  read: 'First read',
  source: 'Source',
  campaign: 'Campaign',
  flags: 'Flags',
  variant: 'Variant',
  columns: 'Columns',
  export: 'Export',
  shown: (count: number, hasMore: boolean): string =>
    count === 0
      ? 'None found yet.'
      : hasMore
        ? `${number(count)} shown, the newest first.`
        : `${counted(count, 'person', 'people')}.`,
  looking: (time: string): string => `Looked back to ${time}, still looking …`,
  looked: (time: string): string => `Looked back to ${time}.`,
  stop: 'Stop looking',
  goOn: 'Look further back',
  refresh: 'Refresh',
  more: 'Show more',
  allShown: (count: number): string => (count > 20 ? 'That is everyone.' : ''),
  noMatch: 'No one matches this filter',
  noMatchText: 'Look for a shorter part of the address, name or company, or remove a filter.',
  none: {
    verified: 'The first lead appears here as soon as a visitor enters the code.',
    suppressed: 'No lead is suppressed: everyone gets mail.',
    unverified: 'Everyone who asked for a code has entered it.',
    imported:
      'No one was imported. The command is: npm run -s desk -- import FILE --consent-source "where they agreed"',
  },
  exportTitle: 'Export',
  exportText: (what: string): string => `The file contains exactly the filtered people: ${what}.`,
  format: 'Format',
  fewerFormats: 'The formats of other programs take leads only, so they are not offered here.',
  exportStart: 'Export',
  exportStop: 'Stop the export',
  exported: (people: number): string =>
    `${counted(people, 'person', 'people')} exported. The file is in your downloads.`,
  progressLabel: 'People in the file so far',
  progress: (people: number, atMost: number | null): string =>
    atMost === null
      ? `${counted(people, 'person', 'people')} so far`
      : `${number(people)} of at most ${number(atMost)} people`,
} as const;

export const companies = {
  lead: 'Leads by the domain of their address, also those who get no mail any more. Large mail services are left out.',
  search: 'Search for a domain',
  domain: 'Domain',
  people: 'Leads',
  share: 'Compared with the largest',
  counting: (soFar: number): string => `Counting: ${counted(soFar, 'lead')} so far …`,
  counted: (count: number): string => `${counted(count, 'domain')}.`,
  none: 'The first lead will bring the first company.',
  nothingFound: 'No lead has an address at such a domain.',
  more: 'Show more',
} as const;
