/** Under which the emoji are kept that were chosen last. */
export const RECENT_EMOJI = 'chat:emoji'
