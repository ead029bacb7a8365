import { CALL_OPTIONS, type CallOptions } from './call-options.ts'
import { refuseUnknown } from './options.ts'

/** What a method was called with. */
export interface ClientCall {
  ids: string[]
  input: Record<string, unknown> | undefined
  options: CallOptions
}

/**
 * The arguments of a method by kind: the ids of the path, the input if there is one, the options.
 *
 * @throws TypeError that names a missing or unknown argument: the service would misread or ignore it
 */
export function toCall(name: string, path: string, takesInput: boolean, args: unknown[]): ClientCall {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, id]) => id!)
  const ids = args.slice(0, names.length)
  const [input, options = {}] = takesInput ? args.slice(names.length) : [undefined, ...args.slice(names.length)]
  const fail = (what: string) => {
    const takes = [...names, ...(takesInput ? ['input'] : []), 'options'].join(', ')
    throw new TypeError(`client.${name}(${takes}) ${what}`)
  }
  names.forEach((name, index) => {
    if (typeof ids[index] !== 'string') fail(`needs "${name}", a string`)
  })
  if (args.length > names.length + (takesInput ? 2 : 1)) fail(`was called with ${args.length} arguments`)
  if (input !== undefined && (typeof input !== 'object' || input === null)) fail('needs an object as its input')
  refuseUnknown(`The options of client.${name}`, options as CallOptions, CALL_OPTIONS)
  return { ids: ids as string[], input: input as ClientCall['input'], options: options as CallOptions }
}

/** The path of a call with its ids, one segment each, or (`rest`) the rest of the path; then its query. */
export function toPath(
  template: string,
  ids: string[],
  query: Record<string, unknown> = {},
  encode: (text: string) => string = encodeURIComponent,
): string {
  const left = [...ids]
  const path = template.replace(/\{\w+\}/g, () => encode(left.shift() ?? ''))
  const search = Object.entries(query)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeText(String(value))}`))
    .join('&')
  return search ? `${path}?${search}` : path
}

/** As `URLSearchParams` does, of which React Native has only a part: without `size`, all parameters would be left out. */
const encodeText = (text: string) => encodeURIComponent(text.replace(/\p{Cs}/gu, '\uFFFD'))
