/** Global Privacy Control, absent from TypeScript's types, and Do Not Track. */
type Wishes = { readonly globalPrivacyControl?: boolean; readonly doNotTrack: string | null };

export function asksNotToBeCounted(): boolean {
  const wishes: Wishes = navigator;
  return wishes.globalPrivacyControl === true || wishes.doNotTrack === '1';
}
