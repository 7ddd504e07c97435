/** Finds elements by developer-assigned id: the HTML id or a test id. */
function byId(where: Page | Locator, id: string): Locator {
  const names = ['id', 'data-testid', 'data-test-id', 'data-test', 'data-cy'];
  return where.locator(names.map((name) => `[${name}=${JSON.stringify(id)}]`).join(', '));
}

