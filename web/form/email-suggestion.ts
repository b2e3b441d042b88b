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
  const intended =
    COMMON_DOMAINS.find((common) => isOneTypoAway(domain, common)) ??
    (MISTYPED_COM.test(domain) ? domain.replace(MISTYPED_COM, '.com') : undefined);
  return intended === undefined ? null : `${name}@${intended}`;
}

/** Damerau-Levenshtein distance of 1. */
function isOneTypoAway(typed: string, intended: string): boolean {
  let start = 0;
  while (start < typed.length && typed[start] === intended[start]) start += 1;
  const typedRest = typed.slice(start);
  const intendedRest = intended.slice(start);
  return (
    typedRest.slice(1) === intendedRest ||
    typedRest === intendedRest.slice(1) ||
    typedRest.slice(1) === intendedRest.slice(1) ||
    (typedRest[0] === intendedRest[1] &&
      typedRest[1] === intendedRest[0] &&
      typedRest.slice(2) === intendedRest.slice(2))
  );
}
