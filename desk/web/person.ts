import { createContext, use } from 'react';

import type { Me } from '#desk/endpoints/auth.ts';

export const PersonContext = createContext<Me | null>(null);

export function usePerson(): Me {
  const person = use(PersonContext);
  if (person === null) throw new Error('No person is signed in.');
  return person;
}

export const useMayChange = (): boolean => usePerson().role === 'all';
