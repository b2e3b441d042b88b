/** Returns what follows the last @ of an e-mail address, in the case it was written in. */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1);
