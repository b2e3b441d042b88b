import type { Me } from '#desk/endpoints/auth.ts';
import type { Person, State } from '#desk/endpoints/people.ts';
import { urlOf } from '#desk/web/api-client.ts';
import { Link } from '#desk/web/router.tsx';
import { DateTime } from '#desk/web/ui/date-time.tsx';
import { Pill } from '#desk/web/ui/pill.tsx';
import type { Column } from '#desk/web/ui/table.tsx';
import styles from '#desk/web/leads/leads.module.css';
import { NONE } from '#desk/web/format.ts';

function Address({ email }: { readonly email: string }) {
  const at = email.lastIndexOf('@');
  return (
    <>
      {email.slice(0, at)}
      <wbr />
      {email.slice(at)}
    </>
  );
}

const orNone = (text: string | null | undefined): string => text || NONE;

const SINCE = {
  verified: 'Verified',
  suppressed: 'Verified',
  unverified: 'Asked',
  imported: 'Imported',
} as const;

export type PersonColumn = Column<Person> & { readonly id: string };

export const personColumns = (
  state: State,
  { fields, variants }: Pick<Me, 'fields' | 'variants'>,
): readonly PersonColumn[] => [
  {
    id: 'name',
    heading: 'Name',
    isMain: true,
    cell: ({ id, name, email }) => <Link href={urlOf('/person', { id })}>{name || email}</Link>,
  },
  { id: 'email', heading: 'E-mail', cell: ({ email }) => <Address email={email} /> },
  { id: 'company', heading: 'Company', cell: ({ company }) => orNone(company) },
  { id: 'since', heading: SINCE[state], cell: ({ since }) => <DateTime at={since} isShort /> },
  ...(state === 'verified' || state === 'suppressed'
    ? [
        {
          id: 'read',
          heading: 'First read',
          cell: ({ firstReadAt }: Person) => <DateTime at={firstReadAt} isShort />,
          isFilled: ({ firstReadAt }: Person) => firstReadAt !== null,
        },
      ]
    : []),
  {
    id: 'source',
    heading: 'Source',
    cell: ({ source }) => orNone(source),
    isFilled: ({ source }) => source !== '',
  },
  {
    id: 'campaign',
    heading: 'Campaign',
    cell: ({ campaign }) => orNone(campaign),
    isFilled: ({ campaign }) => Boolean(campaign),
  },
  {
    id: 'flags',
    heading: 'Flags',
    isFilled: ({ flags }) => flags.length > 0,
    cell: ({ flags }) => (flags.length === 0 ? NONE : <Flags flags={flags} />),
  },
  ...(variants.length > 1
    ? [{ id: 'variant', heading: 'Variant', cell: ({ variant }: Person) => orNone(variant) }]
    : []),
  ...fields.map(({ id, label }) => ({
    id: `answer-${id}`,
    heading: label,
    isLong: true,
    cell: ({ answers }: Person) => {
      const answer = answers[id]?.answer;
      return orNone(typeof answer === 'string' ? answer : answer?.join(', '));
    },
  })),
];

function Flags({ flags }: Pick<Person, 'flags'>) {
  return (
    <span className={`row ${styles.pills}`}>
      {flags.map((flag) => (
        <Pill key={flag}>{flag}</Pill>
      ))}
    </span>
  );
}

export const PersonBlock = ({
  person: { id, name, email, company, source, since, flags },
}: {
  readonly person: Pick<Person, 'id' | 'name' | 'company' | 'source' | 'since'> &
    Partial<Pick<Person, 'email' | 'flags'>>;
}) => (
  <div className={`small ${styles.personBlock}`}>
    <p>
      <Link href={urlOf('/person', { id })}>{name || email || NONE}</Link>
      <DateTime at={since} isShort />
    </p>
    {email !== undefined && (
      <p>
        <Address email={email} />
      </p>
    )}
    <p>
      {[company, source].filter(Boolean).join(' · ')}
      {flags !== undefined && flags.length > 0 && <Flags flags={flags} />}
    </p>
  </div>
);
