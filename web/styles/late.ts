// The styles that travel with the application's first file, not with the page.
import form from '#web/form/form-stage.module.css?inline';
import promise from '#web/form/promise.module.css?inline';
import filmEnd from '#web/landing/film-end.module.css?inline';
import later from '#web/later/later-stage.module.css?inline';
import transitions from '#web/styles/transitions.css?inline';
import field from '#web/ui/field.module.css?inline';
import preferences from '#web/styles/preferences.css?inline';
import toaster from '#web/ui/toaster.module.css?inline';

/** Last what a visitor's system asks for: it goes before all the others. */
export const lateStyles = [field, form, promise, filmEnd, later, toaster, transitions, preferences].join(
  '\n',
);
