import type { Operation } from './operation.ts'

/** @throws TypeError naming what is missing, or is not known: a service would take it for something else, or for nothing */
export function assertCallable(operation: Operation, input: { params?: object; query?: object }): void {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const given = { ...input.params } as Record<string, unknown>
  const fail = (what: string) => {
    const takes = names.length > 0 ? `params: { ${names.join(', ')} }` : 'no params'
    throw new TypeError(`${operation.method} ${operation.path} ${what}: it takes ${takes}`)
  }
  const part = Object.keys(input).find((name) => !['params', 'query', 'body', 'headers'].includes(name))
  if (part !== undefined) fail(`knows no "${part}"`)
  for (const name of names)
    if (typeof given[name] !== 'string') fail(`lacks "${name}" among the params ${JSON.stringify(Object.keys(given))}`)
}

/** The path and query of a call. */
export function pathOf(
  template: string,
  params: Record<string, string>,
  query: Record<string, unknown>,
  encode: (text: string) => string = encodeURIComponent,
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name) => encode(params[name] ?? ''))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
  return search.size > 0 ? `${path}?${search}` : path
}
