import { NUMBER_FIELDS, PROSE_FIELDS, SHOWN_FIELDS } from '../../gateway/upstream/body-fields';
import { DOTS, maskProse } from '../../platform/privacy/contacts';
import { asRecorded } from '../../platform/privacy/recorded';

export { maskContacts, maskEmail, maskHandle, maskKey, maskPhone, maskProse } from '../../platform/privacy/contacts';

/** Free-form fields. Their field names may be personal data, and known names have another meaning there. */
const FREE_FORM = new Set(['meta']);

/**
 * Masks a body for readers without `audit:pii`. Keeps its shape and the fields that name no person.
 * @param numbers the people's numbers in it (`writtenNumbers`). A caller may use one as a reference.
 */
export function maskBody(value: unknown, numbers?: ReadonlySet<string>, key = ''): unknown {
  // Amounts do not come in lists of numbers.
  if (Array.isArray(value)) {
    return value.map((element) => maskBody(element, numbers, typeof element === 'number' ? '' : key));
  }
  if (typeof value === 'object' && value !== null) {
    if (FREE_FORM.has(key)) return DOTS;
    // Some callers write lists as maps, whose names can be contacts.
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [maskProse(name), maskBody(inner, numbers, name)]),
    );
  }
  if (typeof value === 'number') {
    const shown = SHOWN_FIELDS.has(key) || NUMBER_FIELDS.has(key);
    return shown && !numbers?.has(String(value)) ? value : DOTS;
  }
  if (typeof value !== 'string' || value === '') return value;
  if (PROSE_FIELDS.has(key)) return maskProse(value);
  return SHOWN_FIELDS.has(key) ? asRecorded(value, numbers) : DOTS;
}
