/** A page beside the API, as `createWebChat` makes it. */
export interface WebPage {
  fetch(request: Request): Promise<Response>
  /** Its paths; with `**` everything that begins so. */
  readonly paths: readonly string[]
}
