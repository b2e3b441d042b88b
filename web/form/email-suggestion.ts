// Finds typos in common domains: "Did you mean name@gmail.com?"

const COMMON_DOMAINS = [
  'gmail.com',
  'googlemail.com',
  'hotmail.com',
  'hotmail.co.uk',
  'icloud.com',
  'live.com',
  'outlook.com',
  'proton.me',
  'yahoo.co.uk',
  'yahoo.com',
];
/** Real domains that are one letter away from a common one. */
const LOOKALIKES = new Set(['ymail.com', 'gmx.com', 'mail.com', 'email.com', 'love.com', 'like.com']);
const MISTYPED_COM = /\.(con|cim|cmo|comm|ocm|vom|xom)$/;

export function suggestEmail(address: string): string | null {
  const [, name, typed] = /^\s*([^\s@]+)@([^\s@]+\.[^\s@]+)\s*$/.exec(address) ?? [];
  if (name === undefined || typed === undefined) return null;
  const domain = typed.toLowerCase();
  if (COMMON_DOMAINS.includes(domain) || LOOKALIKES.has(domain)) return null;
  const meant =
    COMMON_DOMAINS.find((common) => isOneTypoAway(domain, common)) ??
    (MISTYPED_COM.test(domain) ? domain.replace(MISTYPED_COM, '.com') : undefined);
  return meant === undefined ? null : `${name}@${meant}`;
}

/** Damerau-Levenshtein distance of 1. */
function isOneTypoAway(typed: string, meant: string): boolean {
  let start = 0;
  while (start < typed.length && typed[start] === meant[start]) start += 1;
  const rest = typed.slice(start);
  const wanted = meant.slice(start);
  return (
    rest.slice(1) === wanted ||
    rest === wanted.slice(1) ||
    rest.slice(1) === wanted.slice(1) ||
    (rest[0] === wanted[1] && rest[1] === wanted[0] && rest.slice(2) === wanted.slice(2))
  );
}
