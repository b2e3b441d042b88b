// The styles of the stages that come later: they travel with the application, not with the page.
import content from '#web/content/content-stage.module.css?inline';
import form from '#web/form/form-stage.module.css?inline';
import promise from '#web/form/promise.module.css?inline';
import filmEnd from '#web/landing/film-end.module.css?inline';
import field from '#web/ui/field.module.css?inline';
import toaster from '#web/ui/toaster.module.css?inline';
import tooltip from '#web/ui/tooltip.module.css?inline';
import verification from '#web/verification/verification-stage.module.css?inline';

/** Adds them to the document. A constructed style sheet needs no permission from the Content-Security-Policy. */
export function adoptLateStyles(root: Document): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync([field, form, promise, filmEnd, verification, content, toaster, tooltip].join('\n'));
  root.adoptedStyleSheets.push(sheet);
}
