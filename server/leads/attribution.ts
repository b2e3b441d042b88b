// Where a lead came from, as far as the page's own address says.

const PARAMETERS = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'gclid',
  'fbclid',
  'msclkid',
  'li_fat_id',
] as const;
const VALUE_MAX_LENGTH = 200;

/**
 * The campaign parameters of the page a form was sent from. Bodies carry the fields of the form and no others, so
 * they come from the Referer header, which browsers send in full to the same origin.
 * @param referer the header's value
 */
export function attributionOf(referer: string | undefined): Record<string, string> {
  const query = referer === undefined ? null : (URL.parse(referer)?.searchParams ?? null);
  if (query === null) return {};
  return Object.fromEntries(
    PARAMETERS.flatMap((name) => {
      const value = query.get(name)?.slice(0, VALUE_MAX_LENGTH).toWellFormed().replaceAll('\0', '');
      return value ? [[name, value]] : [];
    }),
  );
}
