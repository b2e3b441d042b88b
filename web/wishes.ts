// What a visitor's browser asks of every site.

/** Global Privacy Control, which the types do not know, and Do Not Track. */
type Wishes = { readonly globalPrivacyControl?: boolean; readonly doNotTrack: string | null };

/** Whether the visitor asks not to be counted. */
export function asksNotToBeCounted(): boolean {
  const wishes: Wishes = navigator;
  return wishes.globalPrivacyControl === true || wishes.doNotTrack === '1';
}
