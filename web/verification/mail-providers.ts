// Lists only the provider's own domains, because a company's domain does not show who hosts its mail.

type Provider = {
  readonly name: string;
  /** The domains are each of `names` with each of `endings`, plus `others`. */
  readonly names: string;
  readonly endings: string;
  readonly others: string;
  /** Both parameters are URL-encoded. */
  readonly open: (sender: string, address: string) => string;
};

const PROVIDERS: readonly Provider[] = [
  {
    name: 'Gmail',
    names: 'gmail googlemail',
    endings: 'com',
    others: '',
    // The search includes spam; authuser selects one of the signed-in accounts.
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
    // Not co.jp, which belongs to another company.
    endings:
      'com at be ca ch cz de dk es fi fr gr hu ie in it nl no pl pt ro se co.id co.il co.in co.nz co.th co.uk co.za com.ar com.au com.br com.co com.hk com.mx com.my com.pe com.ph com.sg com.tr com.tw com.ve com.vn',
    others: 'ymail.com rocketmail.com myyahoo.com',
    // Yahoo's search URL is encoded twice.
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

/** The link opens a search for the sender's mail, or the inbox. Null for other domains. */
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
