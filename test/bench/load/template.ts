import { httpRequest } from './http.ts'
import { marker, PADDING } from './marker.ts'

/** The body every post has, in all its length. */
export function postContent(seq: number): string {
  return PADDING + marker(seq)
}

/** A POST of a content with a marker, cut in two where the marker stands. */
export function postTemplate(
  path: string,
  headers: Record<string, string>,
  bodyOf: (content: string) => object = (content) => ({ content }),
): readonly [string, string] {
  const hole = marker(0)
  const request = httpRequest('POST', path, { headers, body: bodyOf(postContent(0)) })
  const at = request.indexOf(hole)
  return [request.slice(0, at), request.slice(at + hole.length)]
}
