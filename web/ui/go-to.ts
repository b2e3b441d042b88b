/** Scrolls to an element and gives it the focus, as a link to it would. */
export function goTo(target: HTMLElement): void {
  // Links keep their place in the tab order.
  if (target.tabIndex < 0) target.tabIndex = -1;
  target.focus({ preventScroll: true });
  target.scrollIntoView();
}
