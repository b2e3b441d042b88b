/** Global Privacy Control, absent from TypeScript's types, and Do Not Track. */
type Signals = { readonly globalPrivacyControl?: boolean; readonly doNotTrack: string | null };

export function asksNotToBeCounted(): boolean {
  const signals: Signals = navigator;
  return signals.globalPrivacyControl === true || signals.doNotTrack === '1';
}
