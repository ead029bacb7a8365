/** Where a named schema is in the document. */
export function reference(name: string): string {
  return `#/components/schemas/${name}`
}
