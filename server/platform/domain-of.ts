/** The part after the last @, in its original case. */
export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1);
