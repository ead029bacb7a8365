import { basePathOf, publicUrlOf } from '../../config/base-path.ts'
import type { Config } from '../../config/parse.ts'

/** The addresses of the files of the service. */
export function urlsOf(config: Config): (attachmentId: string) => string {
  const base = publicUrlOf(config) ?? basePathOf(config)
  return (id) => `${base}/api/attachments/${id}/content`
}
