import { asksMore } from '#campaign/form.yaml';
import form from '#web/form/form-stage.module.css?inline';
import ownFields from '#web/form/own-fields.module.css?inline';
import film from '#web/landing/film.module.css?inline';
import guideBar from '#web/landing/guide-bar.module.css?inline';
import laterStage from '#web/later-stages/later-stage.module.css?inline';
import promise from '#web/steps/promise-beside-step.module.css?inline';
import stepFrame from '#web/steps/step-frame.module.css?inline';
import transitions from '#web/styles/transitions.css?inline';
import field from '#web/ui/field.module.css?inline';
import preferences from '#web/styles/preferences.css?inline';
import buttonLooks from '#web/ui/button-looks.module.css?inline';
import toaster from '#web/ui/toaster.module.css?inline';

/** preferences.css comes last, so it wins. */
export const appStyles = [
  buttonLooks,
  field,
  stepFrame,
  form,
  ...(asksMore ? [ownFields] : []),
  promise,
  film,
  guideBar,
  laterStage,
  toaster,
  transitions,
  preferences,
].join('\n');
