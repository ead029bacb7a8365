/** A page beside the API, as `createWebChat` makes it. */
export interface WebPage {
  /** @param options.photos the origins of photos that the page may show besides the service */
  fetch(request: Request, options?: { photos?: readonly string[] }): Promise<Response>
  /** Its paths; with `**` everything that begins so. */
  readonly paths: readonly string[]
}
