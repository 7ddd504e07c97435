/** Returns the first locator that matches, as soon as any does: a control comes before the text of its label. */
async function firstOf(...locators: Locator[]): Promise<Locator> {
  await Promise.any(locators.map((locator) => locator.first().waitFor({ state: 'attached' })));
  for (const locator of locators) if ((await locator.count()) > 0) return locator;
  return locators[0];
}

