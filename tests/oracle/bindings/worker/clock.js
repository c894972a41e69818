// The machine's time.

export const nowMs = async () => Date.now();

export const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
