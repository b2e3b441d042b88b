// The styles that travel with the application's first file, not with the page.
import form from '#web/form/form-stage.module.css?inline';
import promise from '#web/form/promise-beside-form.module.css?inline';
import film from '#web/landing/film.module.css?inline';
import secondFile from '#web/second-file/second-file-stage.module.css?inline';
import transitions from '#web/styles/transitions.css?inline';
import field from '#web/ui/field.module.css?inline';
import preferences from '#web/styles/preferences.css?inline';
import buttonLooks from '#web/ui/button-looks.module.css?inline';
import toaster from '#web/ui/toaster.module.css?inline';

/** Last what a visitor's system asks for: it goes before all the others. */
export const firstFileStyles = [
  buttonLooks,
  field,
  form,
  promise,
  film,
  secondFile,
  toaster,
  transitions,
  preferences,
].join('\n');
