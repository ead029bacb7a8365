import { basePathOf, publicUrlOf } from '../../config/base-path.ts'
import type { Config } from '../../config/parse.ts'
import type { FileAddresses } from './rules-files.ts'

/** Where clients find the files of the service: at the public URL, and at the host that they call, if it is known. */
export function fileAddressesOf(config: Config, host: string | undefined): FileAddresses {
  const public_url = publicUrlOf(config)
  const hosts = [...(public_url === undefined ? [] : [new URL(public_url).host]), ...(host ? [host.toLowerCase()] : [])]
  return { path: `${basePathOf(config)}/api/attachments/`, hosts }
}
