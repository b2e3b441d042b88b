// Where a visitor reads their mail, by the domain of their address, and how to open it there. Only domains of the providers
// themselves: a company's domain does not show who runs its mail.

type Provider = {
  readonly name: string;
  /** Whole domains, without the dot of a longer name: each of `names` with each of `endings`, and the others. */
  readonly names: string;
  readonly endings: string;
  readonly others: string;
  /** @param sender whose mail is to be looked for, and @param address the mailbox; both fit for a query */
  readonly open: (sender: string, address: string) => string;
};

const PROVIDERS: readonly Provider[] = [
  {
    name: 'Gmail',
    names: 'gmail googlemail',
    endings: 'com',
    others: '',
    // In spam as well. authuser chooses among the accounts that are signed in.
    open: (sender, address) =>
      `https://mail.google.com/mail/?authuser=${address}#search/from%3A${sender}+in%3Aanywhere+newer_than%3A1d`,
  },
  {
    name: 'Outlook',
    names: 'outlook hotmail live',
    endings:
      'com at be ca ch cl cz de dk es fi fr gr hk hu ie in it jp kr lt lv my nl no ph pt rs ru sa se sg sk co.id co.il co.jp co.kr co.nz co.th co.uk co.za com.ar com.au com.br com.gr com.hk com.mx com.my com.ph com.pt com.sg com.tr com.tw com.vn',
    others: 'msn.com',
    open: () => 'https://outlook.live.com/mail/0/',
  },
  {
    name: 'Yahoo',
    names: 'yahoo',
    // Not co.jp: that is another company with another mail service.
    endings:
      'com at be ca ch cz de dk es fi fr gr hu ie in it nl no pl pt ro se co.id co.il co.in co.nz co.th co.uk co.za com.ar com.au com.br com.co com.hk com.mx com.my com.pe com.ph com.sg com.tr com.tw com.ve com.vn',
    others: 'ymail.com rocketmail.com myyahoo.com',
    // The address of a search has its words encoded twice.
    open: (sender) => `https://mail.yahoo.com/d/search/keyword=from%253A${encodeURIComponent(sender)}`,
  },
  {
    name: 'iCloud',
    names: 'icloud me mac',
    endings: 'com',
    others: '',
    open: () => 'https://www.icloud.com/mail/',
  },
];

/**
 * Where to read the mail of an address: the provider's name, and a link to a search for the sender's mail, or to the inbox
 * where a provider has no address for a search.
 * @param sender the address our mail comes from
 * @returns null for every other domain
 */
export function mailProviderOf(
  address: string,
  sender: string,
): { readonly name: string; readonly href: string } | null {
  const domain = address
    .slice(address.lastIndexOf('@') + 1)
    .trim()
    .toLowerCase();
  const dot = domain.indexOf('.');
  const found = PROVIDERS.find(
    ({ names, endings, others }) =>
      isAmong(domain, others) ||
      (isAmong(domain.slice(0, dot), names) && isAmong(domain.slice(dot + 1), endings)),
  );
  return found === undefined
    ? null
    : { name: found.name, href: found.open(encodeURIComponent(sender), encodeURIComponent(address.trim())) };
}

const isAmong = (word: string, list: string): boolean => list.split(' ').includes(word) && word !== '';
