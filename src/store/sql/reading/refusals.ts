// Why a list was not read, for the user who asked for it. The same whatever reads it.

export const BUSY = 'Too many lists are being looked at right now, so this one was not begun. Try again in a moment.';
export const STOPPED = 'This was stopped because it took too long. Ask for a shorter time or for less at once.';
export const CLOSING = 'The service is being restarted. Try again in a moment.';
