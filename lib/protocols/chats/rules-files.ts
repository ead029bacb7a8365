import { invalid } from '../../core/errors.ts'
import { isId } from '../../core/schema.ts'
import { parseUrl } from '../../core/url.ts'

/** Where the files of the service are. */
export interface FileAddresses {
  /** The path below which they are: `/chat/api/attachments/`. */
  path: string
  /** The hosts of the service, with a port where it is not the usual one. */
  hosts: readonly string[]
}

/** The file that a client names by its id, or by its address here. @throws ChatError `validation_failed` for another one */
export function toAttachmentId(name: string, own: FileAddresses): string {
  const id = isId(name) ? name : idIn(pathOf(name, own.hosts), own.path)
  if (id === undefined) throw invalid('messages', 'must have files by their ids or addresses here: upload them before')
  return id
}

/** The path of an address; `undefined` for one of another host. */
function pathOf(address: string, hosts: readonly string[]): string | undefined {
  // Browsers take `/\` for the begin of a host, as `//`.
  if (/^\/(?![/\\])/.test(address)) return address.split(/[?#]/)[0]
  const url = parseUrl(address)
  return url && /^https?:$/.test(url.protocol) && hosts.includes(url.host) ? url.pathname : undefined
}

const FILE = /^([0-9a-f-]{36})(?:\/content)?$/

function idIn(path: string | undefined, below: string): string | undefined {
  const id = path?.startsWith(below) ? FILE.exec(path.slice(below.length))?.[1] : undefined
  return id !== undefined && isId(id) ? id : undefined
}
