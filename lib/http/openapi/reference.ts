/** The reference to a named schema. */
export function reference(name: string): string {
  return `#/components/schemas/${name}`
}
