# What a search of schedules gains, in the seven networks of a published study of another compiler's search and in ResNet-50 by way of
# Keras, which is to start and end at the same speed:
#   make -f bench/tuning.mk NETS=FOLDER OUT=FOLDER TUNE=300
# NETS: what scripts/make-nets makes. TUNE: seconds for each. Called again it goes on from what was found.
NETS ?= nets
OUT ?= tuned
BIN ?= build/release/bin
TUNE ?= 300
TUNE_FLAGS ?= --threads 1
STUDY := alexnet inception_v2 resnet18 resnet50 resnet101 densenet121 googlenet
KERAS := $(OUT)/resnet50_keras.keras

.PHONY: all
all: $(KERAS)
	$(MAKE) --no-print-directory -f Makefile.experiments tune MODELS="$(STUDY:%=$(NETS)/%.onnx) $(KERAS)" OPTS=3 OUT=$(OUT) BIN=$(BIN) \
	  TUNE=$(TUNE) TUNE_FLAGS="$(TUNE_FLAGS)"

$(KERAS): $(NETS)/resnet50.onnx
	mkdir -p $(OUT)
	$(BIN)/dnn-convert -q $< -o $@
