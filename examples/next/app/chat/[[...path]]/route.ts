import { getChat } from '../../../lib/chat'

export const dynamic = 'force-dynamic'

async function handle(request: Request): Promise<Response> {
  const { app } = await getChat()
  return app.fetch(request)
}

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
}
