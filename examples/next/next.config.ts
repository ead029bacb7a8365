import type { NextConfig } from 'next'

// The chat is loaded from node_modules as it is: it loads its own packages when it needs them.
const config: NextConfig = { serverExternalPackages: ['chat-server'] }
export default config
