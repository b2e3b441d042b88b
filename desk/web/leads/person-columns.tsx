import type { Me } from '#desk/endpoints/auth.ts';
import type { Person, State } from '#desk/endpoints/people.ts';
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

export const personColumns = (
  state: State,
  { fields, variants }: Pick<Me, 'fields' | 'variants'>,
): readonly Column<Person>[] => [
  {
    id: 'name',
    heading: 'Name',
    isMain: true,
    cell: ({ id, name, email }) => <Link href={`/person?id=${encodeURIComponent(id)}`}>{name || email}</Link>,
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
        },
      ]
    : []),
  { id: 'source', heading: 'Source', cell: ({ source }) => orNone(source) },
  { id: 'campaign', heading: 'Campaign', cell: ({ campaign }) => orNone(campaign) },
  {
    id: 'flags',
    heading: 'Flags',
    cell: ({ flags }) =>
      flags.length === 0 ? (
        NONE
      ) : (
        <span className={styles.pills}>
          {flags.map((flag) => (
            <Pill key={flag}>{flag}</Pill>
          ))}
        </span>
      ),
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

export const usuallyHidden = ({ fields }: Pick<Me, 'fields'>): readonly string[] => [
  'campaign',
  'variant',
  ...fields.map(({ id }) => `answer-${id}`),
];
